package import DurableFiles
import MigrationEngine
package import RunLedger
package import StateFolders

/// What all stores of one run share.
package struct RunContext: Sendable {
    package let id: String
    /// The short name that files of the run beside stores carry.
    package let mark: String
    package let request: RunRequest
    package let ledger: Ledger
    package let environment: RunEnvironment
    /// The state folder, symbolic links resolved.
    package let state: FilePath
    /// Whether all who work on the run see the state folder.
    package var sharesState = true
    /// What is known of stores of the same app.
    package let cache: MigrationCache

    package init(
        id: String, mark: String, request: RunRequest, ledger: Ledger, environment: RunEnvironment,
        state: FilePath, sharesState: Bool = true, cache: MigrationCache
    ) {
        self.id = id
        self.mark = mark
        self.request = request
        self.ledger = ledger
        self.environment = environment
        self.state = state
        self.sharesState = sharesState
        self.cache = cache
    }

    package var files: DurableFileSystem { environment.files }

    /// Where what a store's migration makes is.
    ///
    /// - Parameters:
    ///   - found: the store.
    ///   - result: where the result will lie, symbolic links resolved.
    /// - Returns: the places.
    package func places(of found: FoundStore, result: StoreLocation) -> StorePaths {
        guard sharesState else {
            return StorePaths(mark: mark, number: found.number, besideResult: result)
        }
        return StorePaths(
            folder: RunFolders(state: state, run: id).folder(ofStore: found.number), mark: mark,
            number: found.number, result: result)
    }

    /// Appends records, errors as those of a run.
    package func record(_ records: [LedgerRecord]) throws(RunError) {
        try RunError.ledger { () throws(LedgerError) in try ledger.append(records) }
    }

    /// Reads from the ledger, errors as those of a run.
    package func read<Result>(
        _ body: (Ledger) throws(LedgerError) -> Result
    ) throws(RunError) -> Result {
        try RunError.ledger { () throws(LedgerError) in try body(ledger) }
    }
}

/// Where the files of a run are.
package struct RunFolders: Hashable, Sendable {
    let state: FilePath
    let run: String

    package init(state: FilePath, run: String) {
        self.state = state
        self.run = run
    }

    /// The run's own folder.
    package var folder: FilePath { state.appending("runs").appending(FilePath(run)) }

    /// The file with the run's request, which workers do jobs by.
    package var request: FilePath { folder.appending("request.json") }

    /// The report that programs read.
    package var report: FilePath { folder.appending("report.json") }

    /// The folder of one store: plan, routes, shards, snapshot.
    package func folder(ofStore number: Int) -> FilePath { folder.appending("\(number)") }
}
