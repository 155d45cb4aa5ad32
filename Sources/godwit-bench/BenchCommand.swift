import ArgumentParser

/// The benchmarks: ratios against a peer in the same run, never seconds alone.
struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "godwit-bench",
        abstract: "Measures godwit against what an expert would write by hand.",
        discussion: """
            Build it with -c release and run it on a quiet machine. Every round runs both sides, \
            one after the other; medians and ratios are printed.
            """,
        subcommands: [
            SmallRowsCommand.self, LargeBinariesCommand.self, FleetCommand.self,
            ImportPartsCommand.self, OneRunCommand.self, RunFleetCommand.self,
            TransportCommand.self, JobsCommand.self,
            CoordinatorCommand.self, ScaleCommand.self, EmptyCoordinatorCommand.self,
        ])
}
