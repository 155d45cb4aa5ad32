import ArgumentParser
package import CommandSupport

/// `--via`.
package struct ViaOption: ParsableArguments {
    @Option(
        name: .customLong("via"),
        help: ArgumentHelp(
            """
            Versions of the destination's bundle that stores go through, in order; auto for \
            those that lose least; or a YAML file of steps with mappings and programs. Default: \
            none, or the versions that mapping files connect.
            """, valueName: "V1,V2|auto|FILE"))
    var texts: [String] = []

    package init() {}

    /// The option; nil where it is not given.
    package var text: String? { texts.first }

    package func validate() throws {
        guard texts.count < 2 else {
            throw ValidationError("--via takes all versions in one list, such as V1,V2")
        }
    }

    /// Reads the option, and the files that it names.
    ///
    /// - Throws: `CommandFailure` with status 64 or 65, as `ViaRoute`.
    package func route() throws(CommandFailure) -> ViaRoute { try ViaRoute(text) }
}
