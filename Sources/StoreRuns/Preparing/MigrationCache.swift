package import CoreDataStore
import ManagedObjectModel
package import MigrationPlanning
package import MigrationValidation
package import StateFolders

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

    /// Requests by their texts: reading one takes longer than opening a small store.
    private let requests = Memo<String, RecordedRequest>(limit: 8)
    /// Texts of requests that this process wrote, which encode to nothing else.
    private let written = Memo<String, Bool>(limit: 8)

    package init() {}

    /// A request by the text that the ledger has.
    ///
    /// - Throws: `RunError.engine` for a text of another version of the program.
    package func request(_ text: String) throws(RunError) -> RecordedRequest {
        try requests.value(for: text) { () throws(RunError) in
            try RecordedRequest(reading: text)
        }
    }

    /// Remembers a request that was made here.
    package func add(_ request: RecordedRequest, text: String) {
        _ = requests.value(for: text) { request }
        _ = written.value(for: text) { true }
    }

    /// The request of a text as workers read it.
    ///
    /// - Returns: the same text, however the request's swaps change and whichever version of the
    ///   program recorded it.
    /// - Throws: `RunError.engine` for a text of another version of the program.
    package func workerText(_ text: String) throws(RunError) -> String {
        let recorded = try request(text)
        if let plain = recorded.forWorkers() { return try plain.text() }
        return written.known(text) == true ? text : try recorded.text()
    }

    /// What opening stores works out.
    package var stores: StoreCache { planning.stores }
}
