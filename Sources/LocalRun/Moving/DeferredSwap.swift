package import DurableFiles
import Jobs
import MigrationEngine
import RunLedger
import Threads

/// Swaps in what `--defer-swap` left waiting.
package struct DeferredSwap: Sendable {
    private let selection: RunSelection
    private let environment: RunEnvironment
    private let clients: ClientPolicy

    /// - Parameters:
    ///   - selection: the run, or one store of it.
    ///   - clients: how programs that have a store open are treated.
    ///   - environment: files and clocks.
    package init(
        _ selection: RunSelection, clients: ClientPolicy = ClientPolicy(),
        environment: RunEnvironment
    ) {
        self.selection = selection
        self.clients = clients
        self.environment = environment
    }

    /// Moves every waiting result; one store's failure stops no other.
    ///
    /// - Parameter observe: told of each store.
    /// - Throws: `RunError` where there is nothing to swap, or the ledger cannot be written.
    package func run(_ observe: (StoreChange) -> Void) throws(RunError) {
        try StateFolder(selection.state, files: environment.files).withLedger("swapping") {
            ledger, state throws(RunError) in
            defer { environment.replaced.finish() }
            let selected = try SelectedRun(
                selection, ledger: ledger, state: state, environment: environment,
                wanted: [.validated])
            let count = try selected.forEach(in: [.validated]) { store throws(RunError) in
                observe(try move(store, selected))
            }
            guard count > 0 else {
                throw .nothingToDo("no result of the run \(selected.run.id) waits for its swap")
            }
            try selected.endIfFinished()
        }
    }

    private func move(
        _ store: StoreSummary, _ selected: SelectedRun
    ) throws(RunError) -> StoreChange {
        let mover = StoreMover(
            run: selected.run.id,
            mark: selected.mark,
            folders: selected.folders, ledger: selected.ledger, environment: environment,
            defersSwap: false, clients: clients)
        do throws(RunError) {
            guard let recorded = try mover.unfinished(store.found) else {
                throw .engine(.internalError("a validated store has no move in the ledger"))
            }
            var result = try mover.move(recorded)
            if let error = mover.syncNames(of: [recorded]).values.first { throw error }
            try selected.record(try mover.done(recorded, result))
            mover.clean(recorded, &result)
            return StoreChange(path: store.found.path, failure: nil, text: "swapped in")
        } catch {
            if case .ledger = error { throw error }
            let way =
                error.code.decision == .planAgain
                ? "not swapped; migrate without --defer-swap migrates it anew, rollback throws its "
                    + "waiting result away"
                : "not swapped; its result waits: swap can be run again once the cause is mended, "
                    + "migrate without --defer-swap migrates it anew"
            return StoreChange(path: store.found.path, failure: error, text: way)
        }
    }
}
