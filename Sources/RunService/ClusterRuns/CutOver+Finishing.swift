import DurableFiles
import MigrationEngine
import RunLedger
import RunMoves
import StateFolders
import StoreRuns
import Synchronization

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
        let isSynced = moved.filter { store, _ in
            guard case .publish(let plan) = store.way,
                let error = unsynced[plan.output.database.parent]
            else { return true }
            endings.append((store.found.number, .failure(error)))
            return false
        }
        return endings + end(isSynced, of: shared)
    }

    /// Removes what was made of stores that have moved, and writes down that they are done.
    private func end(
        _ moved: [(store: Recorded, result: StoreResult)], of shared: ClusterRun
    ) -> [ResultIntake.Ending] {
        // Before the end is durable: a process that starts after a crash looks at no store that has
        // come to its end.
        let leftovers = shared.removeFiles(of: moved.map(\.store.found))
        return moved.map { store, result in
            var result = result
            _ = shared.offered.withLock { $0.removeValue(forKey: store.found.number) }
            if let error = leftovers[store.found.number] {
                result.leftovers.append("\(error)")
            }
            do throws(RunError) {
                let records = try self.moved(store, result)
                if leftovers[store.found.number] == nil {
                    _ = shared.cleaned.withLock { $0.insert(store.found.number) }
                }
                return (
                    store.found.number,
                    .success(records + [.released(run: run, store: store.found.number)])
                )
            } catch {
                return (store.found.number, .failure(error))
            }
        }
    }
}
