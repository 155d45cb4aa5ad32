package import CoreDataStore
import ManagedObjectModel
package import MigrationPlanning
package import StateFolders
package import ValidationScans

/// What migrations of stores of the same app have in common, worked out once for all of them.
///
/// Everything in it follows from its keys alone; many threads use it.
package final class MigrationCache: Sendable {
    /// What planning and copying work out.
    package let planning = PlanningCache()
    /// What validations work out, by code of their own.
    package let validations = ValidationCache()

    /// The versions that stores are written as on their way to another one.
    let versions = Memo<Model, DestinationModel>(limit: 32)

    /// A request with where its text comes from.
    private struct KnownRequest: Sendable {
        let request: RecordedRequest
        /// Whether this process wrote the text, which encoding would only give again.
        let isWrittenHere: Bool
    }

    /// Requests by their texts: reading one takes longer than opening a small store.
    private let requests = Memo<String, KnownRequest>(limit: 8)

    package init() {}

    /// A request by the text that the ledger has.
    ///
    /// - Throws: `RunError.engine` for a text of another version of the program.
    package func request(_ text: String) throws(RunError) -> RecordedRequest {
        try known(text).request
    }

    private func known(_ text: String) throws(RunError) -> KnownRequest {
        try requests.value(for: text) { () throws(RunError) in
            KnownRequest(request: try RecordedRequest(reading: text), isWrittenHere: false)
        }
    }

    /// Remembers a request that this process encoded.
    ///
    /// - Parameters:
    ///   - request: that was encoded.
    ///   - text: what came of it.
    package func add(_ request: RecordedRequest, text: String) {
        _ = requests.value(for: text) { KnownRequest(request: request, isWrittenHere: true) }
    }

    /// The request of a text as workers read it.
    ///
    /// - Returns: the same text, however the request's swaps change and whichever version of the
    ///   program recorded it.
    /// - Throws: `RunError.engine` for a text of another version of the program.
    package func workerText(_ text: String) throws(RunError) -> String {
        let known = try known(text)
        if let plain = known.request.forWorkers() { return try plain.text() }
        return known.isWrittenHere ? text : try known.request.text()
    }

    /// What opening stores works out.
    package var stores: StoreCache { planning.stores }
}
