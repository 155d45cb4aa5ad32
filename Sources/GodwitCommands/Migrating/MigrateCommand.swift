import ArgumentParser
import CoreDataStore
import DurableFiles
import LocalRun

/// `godwit migrate`.
struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Migrates stores and writes the results into another folder.",
        discussion: """
            The originals are never changed. A result appears under the store's file name once \
            it has been validated, and not before.
            """)

    @OptionGroup
    var arguments: MigrationArguments

    @Option(help: "The folder of the results; it is made where it is missing.")
    var output: String?

    func run() throws {
        guard let output else {
            throw CommandFailure.usage(
                "the in-place swap is not in this version: give a folder for the results with "
                    + "--output")
        }
        let folder = FilePath(output)
        TemporaryFiles.use(arguments.state.map { FilePath($0) } ?? folder.appending(".godwit"))
        var reports: [MigrationReport] = []
        var outcomes = StoreOutcomes(count: arguments.stores.count)
        try ScratchFolder.with { scratch in
            let builder = try RequestBuilder(arguments, scratch: scratch)
            try prepare(folder)
            let state = arguments.state.map { FilePath($0) } ?? folder.appending(".godwit")
            for store in builder.stores {
                do throws(CommandFailure) {
                    let request = builder.request(store: store, output: folder, state: state)
                    reports.append(try migrate(request))
                } catch {
                    outcomes.fail(store, error)
                }
            }
        }
        if arguments.json {
            try Console.printJSON(StoreList(stores: reports, failures: outcomes.failures))
        }
        try outcomes.finish()
    }

    private func prepare(_ folder: FilePath) throws(CommandFailure) {
        try CommandFailure.translating { try DurableFileSystem().makeFolders(folder) }
    }

    private func migrate(_ request: MigrationRequest) throws(CommandFailure) -> MigrationReport {
        try refuseItself(request)
        let view = RunView(
            store: request.store.lastComponent.description, isLive: Console.isTerminal)
        let clock = MonotonicClock.start()
        let migration = LocalMigration(request, clock: clock) { event in
            view.show(event, at: clock())
        }
        do throws(RunError) {
            let outcome = try migration.run()
            view.end()
            guard outcome.output != nil else { throw RunError.validationFailed(outcome.validation) }
            let report = MigrationReport(outcome, store: request.store)
            if !arguments.json { Console.print(report.text) }
            return report
        } catch {
            view.end()
            throw CommandFailure(error)
        }
    }

    /// The advice for an existing result is to remove it: it must not be the original.
    private func refuseItself(_ request: MigrationRequest) throws(CommandFailure) {
        try CommandFailure.translating {
            guard let there = try FileStatus.ifPresent(request.output) else { return }
            let original = try FileStatus(of: request.store)
            let isSame =
                there.identity.device == original.identity.device
                && there.identity.inode == original.identity.inode
            if isSame {
                throw CommandFailure.usage(
                    "the result of \(request.store) would take the place of the original, and "
                        + "the in-place swap is not in this version; give another --output")
            }
        }
    }
}
