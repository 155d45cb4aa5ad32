import ArgumentParser
import CommandSupport
import LocalCluster
import MigrationEngine
import RunReports
import StoreRuns
import Worker

/// The process of one slot: started by workers, never by people.
struct SlotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "slot", abstract: "Runs jobs for the worker that started it.",
        shouldDisplay: false)

    @Option(name: .customLong(SlotSetup.rootOption), help: "A folder as name=folder.")
    var roots: [String] = []

    @Option(
        name: .customLong(SlotSetup.reportOption),
        help: "Milliseconds between two looks at progress.")
    var reportMilliseconds = 1000

    @Flag(
        name: .customLong(SlotSetup.programsOption), help: "Let jobs run programs between steps.")
    var runsPrograms = false

    func run() throws {
        var setup: SlotSetup
        do throws(SlotError) {
            setup = try SlotSetup(roots: roots, reportMilliseconds: reportMilliseconds)
        } catch {
            throw CommandFailure(.usage, "\(error)")
        }
        setup.runsPrograms = runsPrograms
        let stores = WholeStoreJobs(clock: MonotonicClock.start())
        let work = SlotWork.engine(
            setup, policies: CarriedPolicies.all, whole: stores.slotWork)
        SlotChild.serve(work, reportMilliseconds: reportMilliseconds)
    }
}
