import DurableFiles
import MigrationEngine
import RunLedger

/// What all stores of one run share.
struct RunContext: Sendable {
    let id: String
    /// The short name that files of the run beside stores carry.
    let mark: String
    let request: RunRequest
    let ledger: Ledger
    let environment: RunEnvironment
    /// The state folder, symbolic links resolved.
    let state: FilePath
    /// Whether all who work on the run see the state folder.
    var sharesState = true
    /// What is known of stores of the same app.
    let cache: MigrationCache

    var files: DurableFileSystem { environment.files }

    /// Where what a store's migration makes is.
    ///
    /// - Parameters:
    ///   - found: the store.
    ///   - result: the path that the result gets, symbolic links resolved.
    /// - Returns: the places.
    func places(of found: FoundStore, result: FilePath) -> StorePaths {
        guard sharesState else {
            return StorePaths(mark: mark, number: found.number, besideResult: result)
        }
        return StorePaths(
            folder: RunFolders(state: state, run: id).folder(ofStore: found.number), mark: mark,
            number: found.number, result: result)
    }

    /// Appends records, errors as those of a run.
    func record(_ records: [LedgerRecord]) throws(RunError) {
        try RunError.ledger { () throws(LedgerError) in try ledger.append(records) }
    }

    /// Reads from the ledger, errors as those of a run.
    func read<Result>(
        _ body: (Ledger) throws(LedgerError) -> Result
    ) throws(RunError) -> Result {
        try RunError.ledger { () throws(LedgerError) in try body(ledger) }
    }
}

/// Where the files of a run are.
struct RunFolders: Hashable, Sendable {
    let state: FilePath
    let run: String

    /// The run's own folder.
    var folder: FilePath { state.appending("runs").appending(FilePath(run)) }

    /// The file with the run's request, which workers do jobs by.
    var request: FilePath { folder.appending("request.json") }

    /// The report that programs read.
    var report: FilePath { folder.appending("report.json") }

    /// The folder of one store: plan, routes, shards, snapshot.
    func folder(ofStore number: Int) -> FilePath { folder.appending("\(number)") }
}
