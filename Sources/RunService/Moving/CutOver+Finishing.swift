import DurableFiles
import MigrationEngine
import RunLedger

extension CutOver {
    /// Gives results their names, whose moves stand in the ledger; they share syncs.
    ///
    /// - Parameters:
    ///   - stores: of one run.
    ///   - shared: the run.
    /// - Returns: of each, what the ledger is to be told together with its new state.
    /// - Throws: `RunError.ledger`.
    func finish(
        _ stores: [Recorded], of shared: ClusterRun
    ) throws(RunError) -> [ResultIntake.Ending] {
        var endings: [ResultIntake.Ending] = []
        var moved: [(store: Recorded, result: StoreResult)] = []
        for store in stores {
            do throws(RunError) {
                let start = environment.clock()
                var result = try move(store)
                result.seconds[.publish] = environment.clock() - start
                moved.append((store, result))
            } catch {
                try voidUnlessBegun(store, after: error)
                endings.append((store.found.number, .failure(error)))
            }
        }
        let unsynced = syncNames(of: moved.map(\.store))
        for (store, result) in moved {
            do throws(RunError) {
                if case .publish(let plan) = store.way, let error = unsynced[plan.output.parent] {
                    throw error
                }
                endings.append(
                    (store.found.number, .success(try end(store, result, of: shared))))
            } catch {
                endings.append((store.found.number, .failure(error)))
            }
        }
        return endings
    }

    private func end(
        _ store: Recorded, _ result: StoreResult, of shared: ClusterRun
    ) throws(RunError) -> [LedgerRecord] {
        var result = result
        // Before the end is durable: a process that starts after a crash looks at no store that has
        // come to its end.
        do throws(RunError) {
            try shared.removeFiles(of: store.found)
        } catch {
            result.leftovers.append("\(error)")
        }
        return try moved(store, result) + [.released(run: run, store: store.found.number)]
    }
}
