import MappingModel
import RunReports
import StoreRuns

extension ModelCheck: Encodable {
    private enum CodingKeys: String, CodingKey { case destination, versions, warnings }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(destination, forKey: .destination)
        try values.encode(versions, forKey: .versions)
        try values.encode(warnings, forKey: .warnings)
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
    private enum CodingKeys: String, CodingKey { case renamed, refused }

    func encode(to encoder: any Encoder) throws {
        try subject.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(renamed, forKey: .renamed)
        if isRefused { try values.encode(true, forKey: .refused) }
    }
}

extension ModelCheck {
    /// The versions in a table, then what each reason and each loss is about.
    var text: String {
        [headlines, tableLines, lines("reasons", \.reasons), lossLines]
            .filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    private var headlines: [String] {
        let impossible = versions.count { [.mapping, .refused].contains($0.verdict) }
        let dependent = versions.count { $0.verdict == .data }
        let lossy = versions.count { $0.losses.contains(where: \.isRefused) }
        let all = counted(versions.count, "version")
        var lines: [String]
        switch (versions.count, impossible) {
        case (1, 0): lines = ["Stores of this version can be migrated to \(destination)"]
        case (1, _): lines = ["Stores of this version cannot be migrated to \(destination)"]
        case (_, 0): lines = ["Stores of all \(all) can be migrated to \(destination)"]
        default:
            let possible = grouped(versions.count - impossible)
            lines = ["Stores of \(possible) of \(all) can be migrated to \(destination)"]
        }
        if lossy == 0, versions.contains(where: { !$0.losses.isEmpty }) {
            lines[0] += ", some with losses"
        }
        if dependent > 0 {
            lines.append(
                "- of \(grouped(dependent)) only if their data fulfil the reasons below; check "
                    + "such stores with plan")
        }
        if lossy > 0 {
            lines.append(
                "- of \(grouped(lossy)) with losses that you do not accept; accept them with "
                    + "--accept-loss, or keep the data in the model")
        }
        return lines
    }

    private var tableLines: [String] {
        var table = TextTable([
            ("version", .left), ("verdict", .left), ("reasons", .right), ("losses", .right),
        ])
        for one in versions {
            let isPossible = ![.mapping, .refused].contains(one.verdict)
            table.add([
                one.version, one.verdict.rawValue,
                one.reasons.isEmpty ? "-" : grouped(one.reasons.count),
                isPossible ? one.losses.isEmpty ? "-" : grouped(one.losses.count) : "",
            ])
        }
        return table.lines
    }

    private var lossLines: [String] {
        lines("stores can lose") { version in
            version.losses.map { $0.text + ($0.isRefused ? " (refused)" : "") }
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
