package import ArgumentParser
package import CommandSupport
import Coordinator
import Foundation
import Jobs
import LocalCluster
import RunLedger
import RunMoves
import RunReports
import RunService
import StateFolders
import StoreLocks
import StoreRuns

/// `godwit swap`.
package struct SwapCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "swap",
        abstract: "Swaps in the results of migrate --defer-swap.",
        discussion: """
            If a store changed after its migration, Godwit migrates it again and then swaps it. \
            If a program has a store open, Godwit skips the store. Swap it later.
            """)

    @OptionGroup
    var arguments: RunArguments

    @OptionGroup
    var connection: ConnectChoice

    @OptionGroup
    var choice: StoreOfRun

    @Flag(
        help: """
            Swap even if Godwit cannot detect whether a program has a store open. First stop \
            every program that uses the stores. With --connect, set this option when you submit \
            the run.
            """)
    var assumeClosed = false

    package init() {}

    package func run() throws {
        if let connection = try connection.connection(state: arguments.state) {
            return try swap(connection)
        }
        try choice.refuse()
        let selection = try arguments.selection()
        let clock = MonotonicClock.start()
        let log = SwapLog()
        let processors = max(1, ProcessInfo.processInfo.activeProcessorCount)
        try MissingReports(state: selection.state, slots: processors).write()
        let runs = LocalRuns(
            slots: LocalSlots(.processes, count: processors), waitsForSpace: false, clock: clock)
        let assumesClosed = assumeClosed
        let end = try runs.run(
            state: selection.state, purpose: "swapping", expectsJobs: false,
            watch: { log.take($0) }
        ) { coordinator throws(RunError) in
            try coordinator.swap(selection, assumesClosed: assumesClosed)
        }
        try end.check()
        let list = ChangeList("swapped in")
        var isOver = false
        try CommandFailure.translating {
            let records = try RunRecords(state: selection.state)
            try records.forEachStore(of: end.run) { store, record in
                guard let outcome = log.outcome(of: store.number) else { return }
                list.add(outcome.change(store, record))
            }
            isOver = try records.run(end.run).state == .ended
            try records.close()
        }
        if isOver {
            do throws(CommandFailure) {
                try ReportWriter.keep(end.run, state: selection.state, slots: processors)
            } catch {
                Console.log("godwit: could not write the report of run \(end.run): \(error)")
            }
        }
        try list.finish()
    }
}

/// `godwit rollback`.
package struct RollbackCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Puts the originals of a run back.",
        discussion: """
            It restores the database, -wal and external data byte for byte, and discards results \
            that wait for their swap. It refuses a store that was changed after its swap. Use \
            --discard-changes to discard those changes.
            """)

    @OptionGroup
    package var arguments: RunArguments

    @Flag(help: "Discard changes made to stores after their swap.")
    var discardChanges = false

    @Flag(
        help: """
            Put originals back even if Godwit cannot detect whether a program has a store open. \
            First stop every program that uses the stores.
            """)
    package var assumeClosed = false

    package init() {}

    package func run() throws {
        let selection = try arguments.selection()
        let list = ChangeList("rolled back")
        try CommandFailure.translating {
            try RollbackRun(
                selection, discardsChanges: discardChanges,
                clients: ClientPolicy(assumesClosed: assumeClosed),
                environment: CommandEnvironment.make(clock: MonotonicClock.start())
            ).run(list.add)
        }
        try list.finish()
    }
}

/// `godwit cancel`.
package struct CancelCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancels a stopped run and removes its unfinished results.",
        discussion: """
            Stores that the run has swapped stay swapped and can be rolled back. A finished \
            result in --output also stays, and its store is done. If TARGET is a store, Godwit \
            cancels only that store, even after a failure; replay then skips it.
            """)

    @OptionGroup
    var arguments: RunArguments

    @OptionGroup
    package var connection: ConnectChoice

    package init() {}

    package func run() throws {
        if let connection = try connection.connection(state: arguments.state) {
            return try cancel(connection)
        }
        let selection = try arguments.selection()
        let (run, stores, done) = try CommandFailure.translating {
            try CancelRun(
                selection, environment: CommandEnvironment.make(clock: MonotonicClock.start())
            ).run()
        }
        if let store = selection.store {
            Console.print("\(store): cancelled in run \(run)")
        } else {
            let kept = done > 0 ? "; \(counted(done, "store")) had a result and is done" : ""
            Console.print("run \(run) cancelled: \(counted(stores, "store")) not migrated\(kept)")
            let processors = max(1, ProcessInfo.processInfo.activeProcessorCount)
            do throws(CommandFailure) {
                try ReportWriter.keep(run, state: selection.state, slots: processors)
            } catch {
                Console.log("godwit: could not write the report of run \(run): \(error)")
            }
        }
    }
}
