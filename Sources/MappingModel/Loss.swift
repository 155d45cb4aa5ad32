/// Something that a source has and its result has not, with how much of it there is.
///
/// A rename is no loss, nor is a link that the inverse relationship of the result still shows.
package struct Loss: Hashable, Sendable {
    /// What is lost.
    package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// Values of an attribute, null not counted.
        case attribute
        /// Links of a relationship that goes: to-ones of objects that stay, or rows of a join
        /// table.
        case relationship
        /// Links that a mapping states by a path, and that cannot be made because the object at its
        /// end goes elsewhere; named by the relationship of the destination.
        case path
        /// Objects of an entity; their values and links are not counted again.
        case entity
        /// Objects of an entity that no filter of its mappings takes.
        case filter
        /// Values that a mapping replaces because they cannot be computed; named by the attribute
        /// of the destination.
        case conversion
        /// Transactions of persistent history.
        case history
    }

    /// Of what something is lost.
    package struct Subject: Hashable, Sendable, Comparable {
        package let kind: Kind
        /// The entity; for a property, the one that declares it; `history` for history.
        package let entity: String
        /// Nil for an entity and for history.
        package let property: String?

        package init(_ kind: Kind, _ entity: String, _ property: String? = nil) {
            self.kind = kind
            self.entity = entity
            self.property = property
        }

        /// Persistent history.
        package static let history = Subject(.history, "history")

        /// `Entity.property`, `Entity` or `history`.
        package var name: String { property.map { "\(entity).\($0)" } ?? entity }

        package static func < (left: Subject, right: Subject) -> Bool {
            (left.name, left.kind.rawValue) < (right.name, right.kind.rawValue)
        }
    }

    package let subject: Subject
    /// Values, links, objects or transactions.
    package let count: Int64
    /// The version in between that keeps it under another name.
    package let renamed: IntermediateRename?

    package init(_ subject: Subject, count: Int64, renamed: IntermediateRename? = nil) {
        self.subject = subject
        self.count = count
        self.renamed = renamed
    }

    /// Losses of several steps, those of one subject together; the greatest first.
    package static func combined(_ losses: [Loss]) -> [Loss] {
        var counts: [Subject: Loss] = [:]
        for loss in losses {
            let known = counts[loss.subject]
            counts[loss.subject] = Loss(
                loss.subject, count: loss.count + (known?.count ?? 0),
                renamed: known?.renamed ?? loss.renamed)
        }
        return counts.values.sorted { ($1.count, $0.subject) < ($0.count, $1.subject) }
    }

    /// The losses of counts, the greatest first; none of zero.
    ///
    /// `renames`: what a version in between keeps, by name.
    package static func sorted(
        _ counts: [Subject: Int64], renames: [String: IntermediateRename]
    ) -> [Loss] {
        counts.filter { $0.value > 0 }
            .map { Loss($0.key, count: $0.value, renamed: renames[$0.key.name]) }
            .sorted { ($1.count, $0.subject) < ($0.count, $1.subject) }
    }
}

// With `property` also where it is null.
extension Loss.Subject: Codable {
    private enum CodingKeys: String, CodingKey { case entity, property, kind }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try values.decode(Loss.Kind.self, forKey: .kind),
            try values.decode(String.self, forKey: .entity),
            try values.decodeIfPresent(String.self, forKey: .property))
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(entity, forKey: .entity)
        try values.encode(property, forKey: .property)
        try values.encode(kind, forKey: .kind)
    }
}

// Flat, as `docs/reference/json.md` shows it.
extension Loss: Codable {
    private enum CodingKeys: String, CodingKey { case count, renamed }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        subject = try Subject(from: decoder)
        count = try values.decode(Int64.self, forKey: .count)
        renamed = try values.decodeIfPresent(IntermediateRename.self, forKey: .renamed)
    }

    package func encode(to encoder: any Encoder) throws {
        try subject.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(count, forKey: .count)
        try values.encodeIfPresent(renamed, forKey: .renamed)
    }
}

extension Loss {
    /// What follows where a result is called equal to its source, and losses are listed after it.
    package static let exception = ", but for the losses below"

    /// The loss in a few words: `Post.content: 20 values`.
    package var line: String { "\(subject.name): \(amount)\(hint)" }

    /// What follows where a version in between keeps it; else empty.
    package var hint: String { renamed.map { "; \($0)" } ?? "" }

    private var amount: String { "\(count) \(noun)\(count == 1 ? "" : "s")\(qualifier)" }

    /// What follows what is counted; else empty.
    package var qualifier: String {
        switch subject.kind {
        case .conversion: " that could not be computed"
        case .path: " of a path to objects that the relationship does not take"
        case .attribute, .relationship, .entity, .filter, .history: ""
        }
    }

    /// The first losses in one line, `Post.content (20 values), Post.color (10 values)`, and after
    /// a point what a version in between keeps.
    package static func list(_ losses: [Loss]) -> String {
        var items = losses.prefix(listLimit).map { "\($0.subject.name) (\($0.amount))" }
        if losses.count > listLimit { items.append("\(losses.count - listLimit) more") }
        let hints = losses.prefix(listLimit).compactMap { loss in
            loss.renamed.map { ". \(loss.subject.name): \($0)" }
        }
        return items.joined(separator: ", ") + hints.joined()
    }

    /// How many losses stand in one line.
    private static let listLimit = 12

    /// What is counted, as one word in the singular.
    package var noun: String {
        switch subject.kind {
        case .attribute, .conversion: "value"
        case .relationship, .path: "link"
        case .entity, .filter: "object"
        case .history: "transaction"
        }
    }
}
