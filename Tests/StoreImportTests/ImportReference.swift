import Foundation
import ManagedObjectModel
import TestSupport

/// One line of a part, with keys as texts.
struct ReferenceLine {
    var entity: String
    /// The value of the key attribute.
    var key: String
    /// Another attribute's value; nil where the line has none.
    var extra: Int?
    /// Keys of targets by relationships.
    var links: [String: [String]] = [:]
}

/// Holds everything in memory, and follows the documented rules word by word.
struct ImportReference {
    struct Object: Equatable {
        var extra: Int?
        /// Keys of targets in their order.
        var links: [String: [String]] = [:]
    }

    /// A place in a list.
    private struct Place {
        let target: String
        let number: Int
    }

    private struct Row {
        var extra: Int?
        var lists: [String: [Place]] = [:]
    }

    /// A link that waits for its target, with its place in the list.
    private struct Waiting {
        let source: String
        let relationship: Relationship
        let target: String
        let place: Int
    }

    let model: Model
    /// By `Root/key`.
    private var rows: [String: Row] = [:]
    private var waiting: [Waiting] = []

    init(_ model: Model) { self.model = model }

    /// All objects, by `Root/key`.
    var objects: [String: Object] {
        rows.mapValues { row in
            Object(
                extra: row.extra,
                links: row.lists.mapValues { list in
                    list.sorted { $0.number < $1.number }.map(\.target)
                })
        }
    }

    private func name(_ entity: String, _ key: String) -> String {
        "\(model.root(of: entity)?.name ?? entity)/\(key)"
    }

    mutating func add(_ line: ReferenceLine) {
        let name = name(line.entity, line.key)
        let known = Set(rows.keys)
        rows[name, default: Row()].extra = line.extra ?? rows[name]?.extra
        for (property, targets) in line.links.sorted(by: { $0.key < $1.key }) {
            guard let relationship = model.relationship(property, of: line.entity)?.relationship
            else { continue }
            if !relationship.isToMany {
                waiting.removeAll {
                    $0.source == name && $0.relationship.name == relationship.name
                }
                let isKnown = targets.contains {
                    known.contains(self.name(relationship.destination, $0))
                }
                if !isKnown { unlink(name, relationship) }
            }
            var place = nextPlace(name, relationship.name)
            for key in targets {
                let target = self.name(relationship.destination, key)
                if known.contains(target) {
                    link(name, relationship, target, place)
                } else {
                    waiting.append(
                        Waiting(
                            source: name, relationship: relationship, target: target,
                            place: place))
                }
                place += 1
            }
        }
    }

    mutating func end() {
        for link in waiting where rows[link.target] != nil {
            if !isTaken(link) {
                self.link(link.source, link.relationship, link.target, link.place)
            }
            waiting.removeAll {
                $0.source == link.source && $0.relationship == link.relationship
                    && $0.target == link.target && $0.place == link.place
            }
        }
    }

    /// Whether a later line has linked either object of a link that allows one only.
    private func isTaken(_ link: Waiting) -> Bool {
        let own = rows[link.source]?.lists[link.relationship.name] ?? []
        if !link.relationship.isToMany {
            if let found = own.first { return found.target != link.target }
        }
        guard let inverse = model.inverse(of: link.relationship)?.relationship else {
            guard link.relationship.isToMany else { return false }
            return rows.contains { name, row in
                name != link.source
                    && row.lists[link.relationship.name]?
                        .contains { $0.target == link.target } == true
            }
        }
        guard !inverse.isToMany else { return false }
        let back = rows[link.target]?.lists[inverse.name] ?? []
        return back.first.map { $0.target != link.source } ?? false
    }

    /// Behind the last object of a list, and behind those that wait for a place in it.
    private func nextPlace(_ source: String, _ list: String) -> Int {
        let taken = rows[source]?.lists[list]?.map(\.number) ?? []
        let reserved = waiting.filter { $0.source == source && $0.relationship.name == list }
        return ((taken + reserved.map(\.place)).max() ?? -1) + 1
    }

    private mutating func link(
        _ source: String, _ relationship: Relationship, _ target: String, _ place: Int
    ) {
        let inverse = model.inverse(of: relationship)?.relationship
        if let known = rows[source]?.lists[relationship.name]?
            .firstIndex(where: { $0.target == target })
        {
            // A list that is stated again has the order of its last line.
            if relationship.isToMany {
                rows[source]?.lists[relationship.name]?[known] = Place(
                    target: target, number: place)
            }
            return
        }
        if !relationship.isToMany { unlink(source, relationship) }
        if let inverse, !inverse.isToMany { unlink(target, inverse) }
        rows[source]?.lists[relationship.name, default: []].append(
            Place(target: target, number: place))
        if let inverse {
            guard source != target || inverse.name != relationship.name else { return }
            let last = nextPlace(target, inverse.name)
            rows[target]?.lists[inverse.name, default: []].append(
                Place(target: source, number: last))
        } else if relationship.isToMany {
            // Without an inverse, a to-many is kept in the target's row: it has one owner.
            for other in rows.keys where other != source {
                rows[other]?.lists[relationship.name]?.removeAll { $0.target == target }
            }
        }
    }

    private mutating func unlink(_ source: String, _ relationship: Relationship) {
        let old = rows[source]?.lists[relationship.name] ?? []
        rows[source]?.lists[relationship.name] = []
        guard let inverse = model.inverse(of: relationship)?.relationship else { return }
        for place in old {
            rows[place.target]?.lists[inverse.name]?.removeAll { $0.target == source }
        }
    }
}

/// Random lines over few keys, so that objects come several times and before their owners.
struct LineGenerator {
    private var random: SeededGenerator
    private static let keys: [String: [String]] = [
        "Author": ["A", "Ä", "b", "c"], "Book": ["1", "2", "3", "4", "5", "6"],
        "Copy": (1...6).map { "00000000-0000-0000-0000-00000000000\($0)" },
        "Locker": ["1", "2", "3"], "Person": ["a@x", "b@x", "c@x", "d@x"],
        "Tag": ["red", "green", "blue"], "Note": ["n1", "n2", "n3"],
    ]
    /// The persons that are staff.
    private static let staff: Set<String> = ["c@x", "d@x"]
    private static let links: [String: [(String, String, isToMany: Bool)]] = [
        "Author": [("books", "Book", true)],
        "Book": [
            ("author", "Author", false), ("copies", "Copy", true), ("sequel", "Book", false),
            ("prequel", "Book", false), ("tags", "Tag", true),
        ],
        "Copy": [("book", "Book", false), ("holder", "Person", false)],
        "Locker": [("owner", "Person", false)],
        "Person": [
            ("copies", "Copy", true), ("friends", "Person", true), ("locker", "Locker", false),
            ("notes", "Note", true),
        ],
        "Tag": [("books", "Book", true)],
    ]

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func lines(_ count: Int) -> [ReferenceLine] {
        var lines = (0..<count).map { _ in line() }
        // Every object, so that no link leads nowhere.
        for (entity, keys) in Self.keys.sorted(by: { $0.key < $1.key }) {
            for key in keys { lines.append(plain(entity, key)) }
        }
        lines.shuffle(using: &random)
        return lines
    }

    private func plain(_ entity: String, _ key: String) -> ReferenceLine {
        let isStaff = entity == "Person" && Self.staff.contains(key)
        return ReferenceLine(entity: isStaff ? "Staff" : entity, key: key)
    }

    private mutating func line() -> ReferenceLine {
        let entity = Self.links.keys.sorted().randomElement(using: &random) ?? "Book"
        let key = Self.keys[entity]?.randomElement(using: &random) ?? ""
        var line = plain(entity, key)
        let hasExtra = entity == "Book" || entity == "Person"
        if hasExtra, Bool.random(using: &random) {
            line.extra = Int.random(in: 0..<100, using: &random)
        }
        var links = Self.links[entity] ?? []
        if line.entity == "Staff" { links.append(("boss", "Person", false)) }
        for (name, target, isToMany) in links where Int.random(in: 0..<3, using: &random) == 0 {
            let keys = (Self.keys[target] ?? []).shuffled(using: &random)
            let most = isToMany ? min(3, keys.count) : 1
            line.links[name] = Array(keys.prefix(Int.random(in: 0...most, using: &random)))
        }
        return line
    }
}
