package import ClusterProtocol
import DurableFiles
package import Jobs
package import MigrationEngine
package import MigrationPlans
package import SafeSQLite

/// Why a job failed, as a slot tells its worker.
package struct SlotFailure: Error, Hashable, Sendable {
    package let cause: FailureCause
    /// For people; never a value of a row.
    package let text: String

    package init(_ cause: FailureCause, text: String) {
        self.cause = cause
        self.text = text
    }
}

extension SlotFailure {
    /// The failure that an error of the engine is told as.
    package init(_ error: EngineError) { self.init(error.cause, text: error.description) }
}

/// What a slot's process does with its jobs.
package struct SlotWork: Sendable {
    /// Runs one attempt on the calling thread; rows are told to the counter while it runs.
    package typealias Run = @Sendable (JobOrder, RowCounter) throws(SlotFailure) -> Receipt
    /// Migrates a small store in one go.
    package typealias Whole =
        @Sendable (Job, Attempt, JobEnvironment) throws(SlotFailure) ->
        Receipt

    /// Called once, before the first job, on the thread of the jobs.
    package let prepare: @Sendable () throws(SlotFailure) -> Run

    /// Work of another kind than the engine's.
    package init(prepare: @escaping @Sendable () throws(SlotFailure) -> Run) {
        self.prepare = prepare
    }

    /// The engine's jobs: copying and linking by its runner, small stores as the caller says.
    package static func engine(
        _ setup: SlotSetup, policies: PolicyLibrary = PolicyLibrary(), whole: @escaping Whole
    ) -> SlotWork {
        SlotWork { () throws(SlotFailure) in
            try engine(in: try environment(setup, policies), whole: whole).prepare()
        }
    }

    /// The same in folders that the caller knows.
    package static func engine(
        in environment: JobEnvironment, whole: @escaping Whole
    ) -> SlotWork {
        SlotWork { () throws(SlotFailure) in
            let runner = JobRunner(environment: environment)
            return { order, counter throws(SlotFailure) in
                if case .whole = order.job.work {
                    return try whole(order.job, order.attempt, environment)
                }
                do throws(EngineError) {
                    return try runner.run(order.job, attempt: order.attempt, counter: counter)
                } catch {
                    throw SlotFailure(error)
                }
            }
        }
    }

    /// The folders that a slot was given.
    ///
    /// - Throws: `SlotFailure` for a folder that is not there.
    private static func environment(
        _ setup: SlotSetup, _ policies: PolicyLibrary
    ) throws(SlotFailure) -> JobEnvironment {
        var roots: [FileRoot] = []
        for (name, folder) in setup.roots {
            do throws(DurableFileError) {
                roots.append(try FileRoot(name: name, folder: folder))
            } catch {
                throw SlotFailure(EngineError.file(error))
            }
        }
        return JobEnvironment(
            roots: roots, files: DurableFileSystem(links: .refused), policies: policies,
            runsPrograms: setup.runsPrograms)
    }
}
