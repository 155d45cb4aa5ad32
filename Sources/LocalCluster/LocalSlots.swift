package import DurableFiles
import Jobs
package import MigrationEngine
import StateFolders
package import StoreRuns
package import Worker

/// The slots of a run on one machine.
package struct LocalSlots: Sendable {
    /// What a slot is.
    package enum Kind: Hashable, Sendable {
        /// A process of its own, of this program.
        case processes
        /// A process of its own, of another executable with this program's commands.
        case command(FilePath)
        /// A thread of this process.
        case threads
    }

    package let kind: Kind
    /// Jobs at a time; at least 1.
    package let count: Int
    /// What a slot may use before its job is stopped; of threads, the times hold.
    package var limits = SlotLimits.standard
    /// The migration policies of this process, which its threads run.
    package var policies = PolicyLibrary()

    package init(_ kind: Kind, count: Int) {
        self.kind = kind
        self.count = max(1, count)
    }

    func body(
        _ environment: RunEnvironment, _ setup: SlotSetup, _ ownResults: OwnResults
    ) throws(DurableFileError) -> SlotPlan.Body {
        switch kind {
        case .processes: return .process(.own)
        case .command(let path):
            return .process(SlotProgram(path: path, arguments: SlotProgram.own.arguments))
        case .threads:
            let files = environment.files.with(.refused)
            var roots: [FileRoot] = []
            for (name, folder) in setup.roots {
                roots.append(try FileRoot(name: name, folder: folder))
            }
            let stores = WholeStoreJobs(
                files: files, ownResults: ownResults, clock: environment.clock)
            return .thread(
                .engine(
                    in: JobEnvironment(
                        roots: roots, files: files, policies: policies,
                        runsPrograms: setup.runsPrograms),
                    whole: stores.slotWork))
        }
    }
}

extension WholeStoreJobs {
    /// Runs jobs of slots.
    package var slotWork: SlotWork.Whole {
        { [self] job, attempt, environment throws(SlotFailure) in
            do throws(RunError) {
                return try run(job, attempt: attempt, in: environment)
            } catch {
                throw SlotFailure(error.cause, text: "\(error)")
            }
        }
    }
}
