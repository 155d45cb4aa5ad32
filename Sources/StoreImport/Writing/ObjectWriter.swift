import CoreDataStore
import MappingExpressions
import MigrationPlans
import SafeSQLite

/// Writes objects of parts into a store: finds or inserts each, and links it.
final class ObjectWriter {
    private let connection: Connection
    private let finder: ObjectFinder
    private let links: LinkWriter
    private let pending: PendingLinks
    private let schema: ImportSchema
    private let keys: KeyReservoir
    /// By entity numbers, the updates with the places of the attributes that they set.
    private var insertions: [Int64: Insertion] = [:]
    private var updates: [[Int]: Statement] = [:]
    /// By tables.
    private var checks: [String: Statement] = [:]
    /// Updates that are kept compiled; each combination of attributes needs its own.
    private static let updateLimit = 200
    /// What was written.
    private(set) var counts = ImportCounts()

    init(
        _ connection: Connection, _ schema: ImportSchema, _ pending: PendingLinks,
        _ keys: KeyReservoir
    ) {
        self.connection = connection
        self.schema = schema
        self.pending = pending
        self.keys = keys
        finder = ObjectFinder(connection)
        links = LinkWriter(connection)
    }

    /// Writes one object; there must be a transaction.
    ///
    /// - Parameters:
    ///   - object: of a line.
    ///   - place: of the line.
    /// - Throws: `ObjectFault`.
    func write(_ object: ImportedObject, _ place: LinePlace) throws(ObjectFault) {
        do throws(ObjectFault) {
            try writeAndLink(object, place)
        } catch {
            if case .store = error, connection.brokeConstraint {
                throw .object("another object has the same values of a uniqueness constraint")
            }
            throw error
        }
    }

    private func writeAndLink(
        _ object: ImportedObject, _ place: LinePlace
    ) throws(ObjectFault) {
        let found = try ObjectFault.translating { () throws(StoreError) in
            guard let key = object.entity.key, let cell = object.key else {
                return nil as ObjectReference?
            }
            return try finder.find(key, cell)
        }
        let resolved = try ObjectFault.translating { () throws(StoreError) in
            try resolve(object.links)
        }
        guard let found else {
            let made = try insert(object, resolved)
            for link in resolved where !link.isInRow { try connect(made, link, place) }
            counts.inserted += 1
            return
        }
        guard found.entity == object.entity.number else {
            throw .object("an object of another entity has the same key")
        }
        try ObjectFault.translating { () throws(StoreError) in try update(found, object) }
        for link in resolved {
            if !link.relationship.isToMany {
                try ObjectFault.translating { () throws(StoreError) in
                    try pending.forget(found, link.relationship.key.property)
                    // What it leads to now is over, also where the new target has not come yet.
                    if link.references.allSatisfy({ $0 == nil }) {
                        try links.unlink(found, link.relationship)
                    }
                }
            }
            try connect(found, link, place)
        }
        counts.updated += 1
    }

    // MARK: - Rows

    private func insert(
        _ object: ImportedObject, _ links: [ResolvedLinks]
    ) throws(ObjectFault) -> ObjectReference {
        let entity = object.entity
        let row = try row(of: object)
        return try ObjectFault.translating { () throws(StoreError) in
            let insertion = try insertion(of: entity)
            let key = try keys.next(in: entity)
            let statement = insertion.statement
            try statement.bind(key, at: 1)
            for (place, cell) in row.enumerated() { try statement.bind(cell, at: place + 2) }
            var parameter = 2 + row.count
            for toOne in insertion.toOnes {
                let target = links.first { $0.relationship.key == toOne.key }?.references.first
                let found = target.flatMap { $0 }
                try statement.bind(found.map { .integer($0.key) }, at: parameter)
                parameter += 1
                guard toOne.hasEntity else { continue }
                try statement.bind(found.map { .integer($0.entity) }, at: parameter)
                parameter += 1
            }
            try statement.run()
            counts.links += links.count { $0.isInRow }
            return ObjectReference(key: key, entity: entity.number)
        }
    }

    /// The values of a new object's attributes.
    private func row(of object: ImportedObject) throws(ObjectFault) -> [StoredCell?] {
        let attributes = object.entity.attributes
        var row: [StoredCell?] = attributes.map(\.defaultCell)
        var given = object.cells[...]
        for place in attributes.indices {
            if let next = given.first, next.attribute == place {
                row[place] = next.cell
                given.removeFirst()
            } else if attributes[place].isRequired, row[place] == nil {
                throw .object(
                    "\(object.entity.name).\(attributes[place].name) is required and has no value")
            }
        }
        return row
    }

    private func insertion(of entity: ImportedEntity) throws(StoreError) -> Insertion {
        if let known = insertions[entity.number] { return known }
        let made = try Insertion(entity, connection)
        insertions[entity.number] = made
        return made
    }

    private func update(
        _ found: ObjectReference, _ object: ImportedObject
    ) throws(StoreError) {
        let name = [Int(object.entity.number)] + object.cells.map(\.attribute)
        let statement: Statement
        if let known = updates[name] {
            statement = known
        } else {
            var sets = ["Z_OPT = coalesce(Z_OPT, 0) + 1" as SQLText]
            for (parameter, cell) in zip(2..., object.cells) {
                let column = object.entity.attributes[cell.attribute].column
                sets.append("\(SQLText.quoted(column)) = ?\(parameter)")
            }
            statement = try connection.prepare(
                "UPDATE main.\(SQLText.quoted(object.entity.table)) "
                    + "SET \(sets.joined(separator: ", ")) WHERE Z_PK = ?1")
            if updates.count >= Self.updateLimit { updates.removeAll() }
            updates[name] = statement
        }
        try statement.bind(found.key, at: 1)
        for (parameter, cell) in zip(2..., object.cells) {
            try statement.bind(cell.cell, at: parameter)
        }
        try statement.run()
    }

    // MARK: - Links

    private func resolve(_ links: [ImportedLinks]) throws(StoreError) -> [ResolvedLinks] {
        try links.map { link throws(StoreError) in
            ResolvedLinks(
                relationship: link.relationship, targets: link.targets,
                references: try link.targets.map { cell throws(StoreError) in
                    try target(cell, link.key, of: link.relationship)
                })
        }
    }

    private func target(
        _ cell: StoredCell, _ key: ImportedKey, of relationship: ImportedRelationship
    ) throws(StoreError) -> ObjectReference? {
        guard let found = try finder.find(key, cell),
            relationship.targetNumbers.contains(found.entity)
        else { return nil }
        return found
    }

    /// Links an object to the targets that exist, and remembers the others.
    private func connect(
        _ source: ObjectReference, _ link: ResolvedLinks, _ line: LinePlace
    ) throws(ObjectFault) {
        guard !link.targets.isEmpty else { return }
        try ObjectFault.translating { () throws(StoreError) in
            let relationship = link.relationship
            var place = try nextPlace(of: source, relationship)
            for (cell, target) in zip(link.targets, link.references) {
                if let target {
                    try self.link(source, relationship, to: target, place: place)
                } else {
                    try pending.add(
                        source, relationship.key.property, place: place, target: cell, line)
                }
                place = place.map { $0 + PlaceStatement.step }
            }
        }
    }

    private func link(
        _ source: ObjectReference, _ relationship: ImportedRelationship,
        to target: ObjectReference, place: Int64?
    ) throws(StoreError) {
        var inversePlace: Int64?
        if relationship.hasOrderedInverse, let inverse = relationship.inverse,
            let list = schema.byNumber[target.entity]?.relationships[inverse.property]
        {
            inversePlace = try nextPlace(of: target, list)
        }
        try links.link(source, relationship, to: target, place: place, inversePlace: inversePlace)
        counts.links += 1
    }

    /// The end of an ordered list, behind the places of links that wait; nil for a list without
    /// order.
    private func nextPlace(
        of owner: ObjectReference, _ relationship: ImportedRelationship
    ) throws(StoreError) -> Int64? {
        guard let next = try links.nextPlace(of: owner.key, relationship) else { return nil }
        guard let last = try pending.lastPlace(of: owner, relationship.key.property) else {
            return next
        }
        return max(next, last + PlaceStatement.step)
    }

    private func exists(_ object: ObjectReference) throws(StoreError) -> Bool {
        guard let table = schema.byNumber[object.entity]?.table else { return false }
        let query: Statement
        if let known = checks[table] {
            query = known
        } else {
            query = try connection.prepare(
                "SELECT 1 FROM main.\(SQLText.quoted(table)) WHERE Z_PK = ?1 AND Z_ENT = ?2")
            checks[table] = query
        }
        defer { query.reset() }
        try query.bind(object.key, at: 1)
        try query.bind(object.entity, at: 2)
        return try query.step()
    }

    /// Makes links that wait for their targets, as far as these exist now.
    ///
    /// - Parameters:
    ///   - number: behind which links are looked at.
    ///   - limit: of links.
    /// - Returns: the number of the last link; nil where there was none.
    /// - Throws: `StoreError` with SQLite's reason.
    func linkPending(after number: Int64, limit: Int) throws(StoreError) -> Int64? {
        let waiting = try pending.next(after: number, limit: limit)
        for link in waiting {
            guard
                let relationship = schema.byNumber[link.source.entity]?
                    .relationships[link.relationship],
                let key = schema.targetKey(of: relationship), let cell = link.target,
                let target = try target(cell, key, of: relationship)
            else { continue }
            // A line behind it may have linked either object, and the app may have deleted one.
            if try exists(link.source), try !links.isTaken(link.source, relationship, by: target) {
                try self.link(link.source, relationship, to: target, place: link.place)
            } else {
                counts.droppedLinks += 1
            }
            try pending.remove(link.number)
        }
        return waiting.last?.number
    }
}

/// Where an object comes from.
struct LinePlace: Hashable, Sendable {
    let part: Int
    let line: Int
}

/// The links of a line with the objects that exist already.
private struct ResolvedLinks {
    let relationship: ImportedRelationship
    let targets: [StoredCell]
    /// Beside the targets.
    let references: [ObjectReference?]

    /// Whether the row of a new object holds the whole link.
    var isInRow: Bool {
        relationship.isPlain && !references.isEmpty && references.allSatisfy { $0 != nil }
    }
}

extension ImportedRelationship {
    /// Whether it is a to-one that only the object's own row holds.
    var isPlain: Bool {
        if case .toOne(let columns, nil) = storage { columns.order == nil } else { false }
    }
}
