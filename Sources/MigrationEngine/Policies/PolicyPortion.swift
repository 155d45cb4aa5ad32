import CoreDataStore
package import ManagedObjectModel
import MappingExpressions
import MappingModel
import MigrationPlanning
import SafeSQLite

/// Some of the objects of an entity mapping in the hands of its policy: what it may read of the
/// source, and what it may make in the destination.
///
/// Values of the source are read when they are asked for. What is made stands in the shard at once:
/// memory does not grow with the objects.
package final class PolicyPortion {
    let context: PolicyContext
    let reader: SourceReader
    /// The object that a hook is called for, for messages and for the keys of new objects.
    private(set) var current: PolicyObject?
    /// How many objects of each block were asked for, for the current object.
    private var places: [Int: Int64] = [:]

    init(_ context: PolicyContext) {
        self.context = context
        reader = SourceReader(file: context.file, connection: context.connection)
    }

    /// Begins with an object: keys of what is made for it follow from its own.
    func turn(to object: PolicyObject) {
        current = object
        places.removeAll(keepingCapacity: true)
    }

    /// The number of places that each block has given for the current object.
    var usedPlaces: [Int: Int64] {
        get { places }
        set { places = newValue }
    }
}

// MARK: - The source

extension PolicyPortion {
    /// The value of an attribute of a source object; nil for none.
    ///
    /// - Throws: `PolicyFailure` for an attribute that the entity does not have.
    package func value(_ name: String, of object: SourceObjectKey) throws -> DefaultValue? {
        try reader.value(name, of: object)
    }

    /// A part of a binary or text attribute in bytes, for values that are too large for memory.
    ///
    /// - Parameters:
    ///   - name: of the attribute.
    ///   - object: of the source.
    ///   - offset: of the first byte, from 0.
    ///   - count: the most bytes.
    /// - Returns: fewer bytes at the end of the value; nil where there is none.
    /// - Throws: `PolicyFailure` for an attribute of another type.
    package func bytes(
        _ name: String, of object: SourceObjectKey, from offset: Int64, count: Int64
    ) throws -> [UInt8]? {
        try reader.bytes(name, of: object, from: offset, count: count)
    }

    /// The target of a to-one relationship of a source object; nil for none.
    ///
    /// - Throws: `PolicyFailure` for a relationship that the entity does not have.
    package func target(_ name: String, of object: SourceObjectKey) throws -> SourceObjectKey? {
        var found: SourceObjectKey?
        try reader.targets(name, of: object) { found = found ?? $0 }
        return found
    }

    /// Calls a body for each target of a relationship of a source object, in the order of keys.
    ///
    /// - Throws: `PolicyFailure` for a relationship that the entity does not have, and what the
    ///   body throws.
    package func forEachTarget(
        _ name: String, of object: SourceObjectKey, _ body: (SourceObjectKey) throws -> Void
    ) throws {
        try reader.targets(name, of: object, body)
    }

    /// The destination objects that entity mappings make of a source object.
    ///
    /// - Parameters:
    ///   - object: of the source.
    ///   - mapping: the name of the entity mapping; nil for any.
    /// - Returns: one for each entity mapping that takes the object, in their order.
    /// - Throws: `PolicyFailure` where the object cannot be read.
    package func destinations(
        of object: SourceObjectKey, by mapping: String?
    ) throws -> [MadeObject] {
        guard let number = try reader.splitNumber(of: object) else { return [] }
        let plan = context.plan
        return plan.passes.compactMap { pass in
            let mapped = plan.mapping.entityMappings[pass.mapping]
            guard mapped.source == object.entity, mapping == nil || mapping == mapped.name,
                let entity = mapped.destination,
                let feed = plan.feeds.first(where: { feed in
                    feed.entities.contains {
                        $0.pass == pass.mapping && $0.sourceNumber == number
                    }
                }),
                let fed = feed.entities.first(where: { $0.pass == pass.mapping })
            else { return nil }
            return MadeObject(
                entity: entity, number: fed.destinationNumber, table: feed.destinationTable,
                key: object.key + feed.offset, origin: .elsewhere)
        }
    }
}

// MARK: - The destination

extension PolicyPortion {
    /// Inserts an object.
    ///
    /// - Throws: `PolicyFailure` for an entity that the policy does not declare, and for more
    ///   objects than it declares.
    package func insert(_ entity: String) throws -> MadeObject {
        let (number, block) = try block(of: entity)
        guard block.key.isEmpty else {
            throw PolicyFailure("objects of \(entity) are found by a key, and not inserted")
        }
        let object = MadeObject(
            entity: entity, number: block.objects.number, table: block.objects.table,
            key: try nextKey(in: number, block), origin: .inserted)
        try context.writer.insert(object)
        return object
    }

    /// Finds an object by its key, or inserts it.
    ///
    /// Several chunks may make it; the link stage keeps the one of the lowest source object.
    ///
    /// - Parameters:
    ///   - entity: of the object.
    ///   - key: values by attribute: those that the policy declares, and no others.
    /// - Returns: the object, and whether it is new in this chunk.
    /// - Throws: `PolicyFailure` for an entity or attributes that the policy does not declare.
    package func find(
        _ entity: String, key: [String: DefaultValue?]
    ) throws -> (object: MadeObject, isNew: Bool) {
        let (number, block) = try block(of: entity)
        guard !block.key.isEmpty else {
            throw PolicyFailure("objects of \(entity) are inserted, and have no key to be found by")
        }
        guard Set(key.keys) == Set(block.key.map(\.attribute)) else {
            let names = block.key.map(\.attribute).joined(separator: ", ")
            throw PolicyFailure("objects of \(entity) are found by \(names), all of these")
        }
        let reserved = try nextKey(in: number, block)
        var cells: [StoredCell?] = []
        for column in block.key {
            cells.append(try context.cell(key[column.attribute] ?? nil, column.attribute, entity))
        }
        if let known = try context.writer.find(block, cells) {
            return (made(block, key: known, .found), false)
        }
        let object = made(block, key: reserved, .found)
        try context.writer.insert(object)
        for (column, cell) in zip(block.key, cells) {
            try context.writer.set(column.column, of: object, to: cell)
        }
        try context.writer.remember(block, cells, key: reserved)
        return (object, true)
    }

    private func made(_ block: ObjectBlock, key: Int64, _ origin: MadeObject.Origin) -> MadeObject {
        MadeObject(
            entity: block.objects.entity, number: block.objects.number,
            table: block.objects.table, key: key, origin: origin)
    }

    private func block(of entity: String) throws -> (Int, ObjectBlock) {
        let blocks = context.pass.blocks
        guard let number = blocks.firstIndex(where: { $0.objects.entity == entity }) else {
            throw PolicyFailure("it makes objects of \(entity), which it does not declare")
        }
        return (number, blocks[number])
    }

    private func nextKey(in number: Int, _ block: ObjectBlock) throws -> Int64 {
        guard let current else {
            throw PolicyFailure("objects can be made only for a source object")
        }
        guard current.source.key > 0 else {
            throw PolicyFailure("the key of the source object is not above 0")
        }
        let place = places[number, default: 0]
        guard place < block.most else {
            throw PolicyFailure(
                "it asks for more than \(block.most) objects of \(block.objects.entity) for one "
                    + "source object, which is the most that it declares")
        }
        places[number] = place + 1
        return block.key(forSource: current.source.key, at: place)
    }

    /// Sets an attribute of an object.
    ///
    /// - Throws: `PolicyFailure` for an attribute that is not there, not declared, or of another
    ///   type.
    package func set(
        _ name: String, of object: MadeObject, to value: DefaultValue?
    ) throws {
        try context.expectChange(of: name, object)
        let column = try context.attributeColumn(name, object.entity)
        try context.writer.set(
            column.name, of: object, to: try context.cell(value, name, object.entity))
    }

    /// Links an object by a to-one relationship.
    ///
    /// - Throws: `PolicyFailure` for a relationship that is not there, not declared or to-many, for
    ///   a target of another entity, and where the other side cannot be set along.
    package func link(
        _ name: String, of object: MadeObject, to target: MadeObject?
    ) throws {
        try PolicyLink(name, of: object, context).set(target)
    }

    /// The value that an attribute of a destination object has now; nil for none.
    ///
    /// - Throws: `PolicyFailure` for an object of another source object, which may come later.
    package func value(_ name: String, ofDestination object: MadeObject) throws -> DefaultValue? {
        guard object.origin != .elsewhere else {
            throw PolicyFailure("values of objects that other mappings make cannot be read")
        }
        let column = try context.attributeColumn(name, object.entity)
        let type = context.type(of: name, object.entity)
        return try context.writer.value(column.name, of: object)?.value(type)
    }
}
