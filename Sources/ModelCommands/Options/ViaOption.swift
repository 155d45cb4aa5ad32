import ArgumentParser
package import CommandSupport
import ManagedObjectModel
import MappingModel
package import MigrationPlans
import ModelFiles

/// `--via`.
package struct ViaOption: ParsableArguments {
    @Option(
        name: .customLong("via"),
        help: ArgumentHelp(
            """
            Versions of the destination's bundle that stores go through, in order; or auto for \
            those that lose least. Default: none, or the versions that mapping files connect.
            """, valueName: "V1,V2|auto"))
    var texts: [String] = []

    package init() {}

    /// The option; nil where it is not given.
    package var text: String? { texts.first }

    package func validate() throws {
        guard texts.count < 2 else {
            throw ValidationError("--via takes all versions in one list, such as V1,V2")
        }
    }

    /// The ways of all versions to a destination.
    ///
    /// - Parameters:
    ///   - text: the option; nil goes from mapping file to mapping file.
    ///   - target: the destination.
    ///   - options: with the mapping files and policies of the steps.
    ///   - allowsOlder: whether a step may lead to an older version.
    /// - Returns: straight ways where nothing leads through another version.
    /// - Throws: `CommandFailure` with status 64 for versions that the bundle does not have.
    package static func ways(
        _ text: String?, to target: LoadedModel, _ options: PlanOptions, allowsOlder: Bool = true
    ) throws(CommandFailure) -> VersionWays {
        guard let text else {
            guard let reader = target.reader, !options.mappings.isEmpty else {
                return VersionWays()
            }
            return BundleWays(target, reader, options).mapped()
        }
        guard let reader = target.reader else {
            throw .usage("--via needs a destination with versions: .xcdatamodeld or .momd")
        }
        let bundle = BundleWays(target, reader, options)
        guard text != "auto" else { return bundle.best() }
        let names = text.split(separator: ",").map { $0.trimming(while: \.isWhitespace) }
        let known = reader.bundle.names
        for name in names where !known.contains(name) {
            let hint = NameSuggestion.hint(name, known, noun: "versions")
            throw .usage("--via: the bundle has no version \(name). \(hint)")
        }
        guard !names.isEmpty else { throw .usage("--via is empty: name versions, or auto") }
        guard Set(names).count == names.count else {
            throw .usage("--via names each version once")
        }
        guard !names.contains(reader.bundle.chosen) else {
            throw .usage("--via: \(reader.bundle.chosen) is the destination itself")
        }
        let way = names + [reader.bundle.chosen]
        let inOrder = known.filter(way.contains)
        guard allowsOlder || way == inOrder else {
            throw .usage(
                "--via: a step would lead to an older version. The bundle's order is "
                    + inOrder.joined(separator: ", ")
                    + ". Keep this order, or use --allow-older")
        }
        return try CommandFailure.translating { try bundle.directed(names) }
    }
}

extension StringProtocol {
    /// The text without such characters at its ends.
    fileprivate func trimming(while isDropped: (Character) -> Bool) -> String {
        String(drop(while: isDropped).reversed().drop(while: isDropped).reversed())
    }
}
