extension ModelSummary {
    /// The model for a terminal of 80 columns or more: one entity a paragraph, one property a
    /// line.
    package var text: String {
        let counts =
            "\(entities.count) entities, "
            + "\(entities.map(\.attributes.count).reduce(0, +)) attributes, "
            + "\(entities.map(\.relationships.count).reduce(0, +)) relationships"
        var lines = [counts]
        if !versionIdentifiers.isEmpty {
            let list = versionIdentifiers.map(Predicate.quoted).joined(separator: ", ")
            lines.append("version identifiers: \(list)")
        }
        for (name, members) in configurations.sorted(by: { $0.key < $1.key }) {
            lines.append("configuration \(name): \(members.joined(separator: ", "))")
        }
        for entity in entities { lines += [""] + entity.lines }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension ModelSummary.EntitySummary {
    /// The paragraph of the entity.
    fileprivate var lines: [String] {
        var title = "\(number)  \(name)"
        if let parent { title += " : \(parent)" }
        if isAbstract { title += ", abstract" }
        if let `class`, `class` != name { title += ", class \(`class`)" }
        if let renamingIdentifier { title += ", renamed from \(renamingIdentifier)" }
        if let versionHashModifier { title += ", hash modifier \(versionHashModifier)" }
        var rows: [(name: String, words: String)] = []
        rows += attributes.map { ($0.name, $0.words) }
        rows += relationships.map { ($0.name, $0.words) }
        rows += fetchedProperties.map { ($0, "fetched property") }
        // Beyond this width a long name pushes its own line alone.
        let width = min(rows.map(\.name.count).max() ?? 0, 30)
        var lines = [title]
        lines += rows.map { "   \(Self.padded($0.name, to: width))  \($0.words)" }
        lines += indexes.map { "   index \($0.name): \($0.words)" }
        lines += compoundIndexes.map { "   compound index: \($0.joined(separator: ", "))" }
        lines += uniquenessConstraints.map { "   unique: \($0.joined(separator: ", "))" }
        return lines
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
