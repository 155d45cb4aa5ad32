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
        /// Objects of an entity; their values and links are not counted again.
        case entity
        /// Transactions of persistent history.
        case history
    }

    /// Of what something is lost.
    package struct Subject: Hashable, Sendable, Codable, Comparable {
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

    package init(_ subject: Subject, count: Int64) {
        self.subject = subject
        self.count = count
    }

    /// The losses of counts, the greatest first; none of zero.
    package static func sorted(_ counts: [Subject: Int64]) -> [Loss] {
        counts.filter { $0.value > 0 }.map { Loss($0.key, count: $0.value) }.sorted {
            ($1.count, $0.subject) < ($0.count, $1.subject)
        }
    }
}

// Flat, and with `property` also where it is null, as `docs/reference/json.md` shows it.
extension Loss: Codable {
    private enum CodingKeys: String, CodingKey { case entity, property, kind, count }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        subject = Subject(
            try values.decode(Kind.self, forKey: .kind),
            try values.decode(String.self, forKey: .entity),
            try values.decodeIfPresent(String.self, forKey: .property))
        count = try values.decode(Int64.self, forKey: .count)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(subject.entity, forKey: .entity)
        try values.encode(subject.property, forKey: .property)
        try values.encode(subject.kind, forKey: .kind)
        try values.encode(count, forKey: .count)
    }
}

extension Loss {
    /// What follows where a result is called equal to its source, and losses are listed after it.
    package static let exception = ", but for the losses below"

    /// The loss in a few words: `Post.content: 20 values`.
    package var line: String { "\(subject.name): \(amount)" }

    private var amount: String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// The first losses in one line: `Post.content (20 values), Post.color (10 values)`.
    package static func list(_ losses: [Loss]) -> String {
        var items = losses.prefix(listLimit).map { "\($0.subject.name) (\($0.amount))" }
        if losses.count > listLimit { items.append("\(losses.count - listLimit) more") }
        return items.joined(separator: ", ")
    }

    /// How many losses stand in one line.
    private static let listLimit = 12

    /// What is counted, as one word in the singular.
    package var noun: String {
        switch subject.kind {
        case .attribute: "value"
        case .relationship: "link"
        case .entity: "object"
        case .history: "transaction"
        }
    }
}
