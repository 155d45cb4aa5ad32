import MappingModel
import MigrationValidation
import RunReports
import StoreRuns

extension ModelCheck: Encodable {
    private enum CodingKeys: String, CodingKey { case destination, versions }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(destination, forKey: .destination)
        try values.encode(versions, forKey: .versions)
    }
}

extension ModelCheck.Version: Encodable {
    private enum CodingKeys: String, CodingKey { case version, verdict, reasons, losses }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(version, forKey: .version)
        try values.encode(verdict, forKey: .verdict)
        try values.encode(reasons, forKey: .reasons)
        try values.encode(losses, forKey: .losses)
    }
}

// Flat, as losses are that were counted.
extension ModelCheck.PossibleLoss: Encodable {
    private enum CodingKeys: String, CodingKey { case renamed }

    func encode(to encoder: any Encoder) throws {
        try subject.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(renamed, forKey: .renamed)
    }
}

extension ModelCheck {
    /// The versions in a table, then what each reason and each loss is about.
    var text: String {
        [[headline], tableLines, lines("reasons", \.reasons), lossLines]
            .filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    private var headline: String {
        let failed = versions.count { $0.failure != nil }
        let all = counted(versions.count, "version")
        return failed == 0
            ? "Stores of \(versions.count == 1 ? "the version" : "all \(all)") can be migrated to "
                + destination
            : "Stores of \(grouped(failed)) of \(all) cannot be migrated to \(destination)"
    }

    private var tableLines: [String] {
        var table = TextTable([
            ("version", .left), ("verdict", .left), ("reasons", .right), ("losses", .right),
        ])
        for one in versions {
            table.add([
                one.version, one.failure?.kind == "losses" ? "refused" : one.verdict.rawValue,
                one.reasons.isEmpty ? "-" : grouped(one.reasons.count),
                one.losses.isEmpty ? "-" : grouped(one.losses.count),
            ])
        }
        return table.lines
    }

    private var lossLines: [String] {
        let refused = Set(versions.flatMap(\.refusedLosses).map(\.subject))
        return lines("stores can lose") { version in
            version.losses.map { loss in
                loss.text + (refused.contains(loss.subject) ? " (refused)" : "")
            }
        }
    }

    /// Texts with the versions that have them, each text once.
    private func lines(_ title: String, _ texts: (Version) -> [String]) -> [String] {
        var order: [String] = []
        var names: [String: [String]] = [:]
        for version in versions {
            for text in texts(version) {
                if names[text] == nil { order.append(text) }
                names[text, default: []].append(version.version)
            }
        }
        guard !order.isEmpty else { return [] }
        return [title]
            + order.flatMap { text in
                let place = versions.count == 1 ? "" : " [\(Self.range(names[text] ?? []))]"
                return WrappedText.lines(text + place, first: "- ", rest: "  ")
            }
    }

    /// Names of versions in their order: all of a few, else the ends.
    private static func range(_ names: [String]) -> String {
        guard names.count > 3, let first = names.first, let last = names.last else {
            return names.joined(separator: ", ")
        }
        return "\(counted(names.count, "version")), \(first) to \(last)"
    }
}
