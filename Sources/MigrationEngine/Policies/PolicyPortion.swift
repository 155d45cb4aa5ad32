import CoreDataStore
import DurableFiles
package import ManagedObjectModel
import MappingExpressions
import MappingModel
import MigrationPlans
import SafeSQLite

/// Some of the objects of an entity mapping in the hands of its policy: what it may read of the
/// source, and what it may make in the destination.
///
/// Values of the source are read when they are asked for. What is made stands in the shard at once:
/// memory does not grow with the objects.
package final class PolicyPortion {
    let context: PolicyContext
    let reader: SourceReader
    let state = PolicyState()

    /// - Parameters:
    ///   - context: of the entity mapping.
    ///   - support: the folder of the source's external data; nil for none.
    init(_ context: PolicyContext, support: FilePath?) {
        self.context = context
        reader = SourceReader(
            file: context.file, connection: context.connection, support: support)
    }
}

// MARK: - The source

extension PolicyPortion {
    /// The value of an attribute of a source object; nil for none.
    ///
    /// - Throws: `PolicyFailure` for an attribute that the entity does not have.
    package func value(_ name: String, of object: SourceObjectKey) throws -> DefaultValue? {
        try state.keeping { try reader.value(name, of: object) }
    }

    /// A part of a binary or text attribute in bytes.
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
        try state.keeping { try reader.bytes(name, of: object, from: offset, count: count) }
    }

    /// The target of a to-one relationship of a source object; nil for none.
    ///
    /// - Throws: `PolicyFailure` for a relationship that the entity does not have.
    package func target(_ name: String, of object: SourceObjectKey) throws -> SourceObjectKey? {
        try state.keeping {
            var found: SourceObjectKey?
            try reader.targets(name, of: object) { found = found ?? $0 }
            return found
        }
    }

    /// Calls a body for each target of a relationship of a source object, in the order of keys.
    ///
    /// - Throws: `PolicyFailure` for a relationship that the entity does not have, and what the
    ///   body throws.
    package func forEachTarget(
        _ name: String, of object: SourceObjectKey, _ body: (SourceObjectKey) throws -> Void
    ) throws {
        // What the body throws is the policy's own, and no failure unless the policy lets it pass.
        var own: (any Error)?
        do {
            try reader.targets(name, of: object) { target in
                do {
                    try body(target)
                } catch {
                    own = error
                    throw error
                }
            }
        } catch {
            if let own { throw own }
            try state.keeping { throw error }
        }
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
        let split = try state.keeping { try reader.splitNumber(of: object) }
        guard let number = split else { return [] }
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
                key: object.key + feed.offset, origin: .elsewhere, source: object.key)
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
        try state.keeping {
            let (number, block) = try block(of: entity)
            guard block.key.isEmpty else {
                throw PolicyFailure("objects of \(entity) are found by a key, and not inserted")
            }
            let source = try state.maker(of: number, finds: false)
            let object = made(block, try nextKey(in: number, block, for: source), .inserted, source)
            try context.writer.insert(object)
            return object
        }
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
        try state.keeping {
            let (number, block) = try block(of: entity)
            guard !block.key.isEmpty else {
                throw PolicyFailure(
                    "objects of \(entity) are inserted, and have no key to be found by")
            }
            guard Set(key.keys) == Set(block.key.map(\.attribute)) else {
                let names = block.key.map(\.attribute).joined(separator: ", ")
                throw PolicyFailure("objects of \(entity) are found by \(names), all of these")
            }
            let source = try state.maker(of: number, finds: true)
            let reserved = try nextKey(in: number, block, for: source)
            var cells: [StoredCell?] = []
            for column in block.key {
                cells.append(
                    try context.cell(key[column.attribute] ?? nil, column.attribute, entity))
            }
            if let known = try context.writer.find(block, cells) {
                return (made(block, known, .found, source), false)
            }
            let object = made(block, reserved, .found, source)
            try context.writer.insert(object)
            for (column, cell) in zip(block.key, cells) {
                try context.writer.set(column.column, of: object, to: cell)
            }
            try context.writer.remember(block, cells, key: reserved)
            return (object, true)
        }
    }

    /// Lets the policy give an object that it has just found, and that is new, its values.
    package func configure(_ object: MadeObject, _ body: () throws -> Void) throws {
        try state.configure(object, body)
    }

    private func made(
        _ block: ObjectBlock, _ key: Int64, _ origin: MadeObject.Origin, _ source: SourceObjectKey
    ) -> MadeObject {
        MadeObject(
            entity: block.objects.entity, number: block.objects.number,
            table: block.objects.table, key: key, origin: origin, source: source.key)
    }

    private func block(of entity: String) throws -> (Int, ObjectBlock) {
        let blocks = context.pass.blocks
        guard let number = blocks.firstIndex(where: { $0.objects.entity == entity }) else {
            throw PolicyFailure(
                "it makes objects of \(context.shown(entity)), which it does not declare")
        }
        return (number, blocks[number])
    }

    private func nextKey(
        in number: Int, _ block: ObjectBlock, for source: SourceObjectKey
    ) throws -> Int64 {
        let place = state.places[number, default: 0]
        guard place < block.most else {
            throw PolicyFailure(
                "it makes more than \(block.most) objects of \(block.objects.entity) for one "
                    + "source object, the maximum that it declares")
        }
        state.places[number] = place + 1
        return block.key(forSource: source.key, at: place)
    }

    /// Sets an attribute of an object.
    ///
    /// - Throws: `PolicyFailure` for an attribute that is not there, not declared, or of another
    ///   type.
    package func set(
        _ name: String, of object: MadeObject, to value: DefaultValue?
    ) throws {
        try state.keeping {
            try context.expectChange(of: name, object, state)
            let column = try context.attributeColumn(name, object.entity)
            try context.writer.set(
                column.name, of: object, to: try context.cell(value, name, object.entity))
        }
    }

    /// Links an object.
    ///
    /// - Throws: `PolicyFailure` for a relationship that is not there or not declared, for a target
    ///   of another entity, and where the other side cannot be set along.
    package func link(
        _ name: String, of object: MadeObject, to target: MadeObject?
    ) throws {
        try state.keeping { try PolicyLink(name, of: object, context, state).set(target) }
    }

    /// The value that an attribute of a destination object has now; nil for none.
    ///
    /// - Throws: `PolicyFailure` for an object of another source object, which may come later.
    package func value(_ name: String, ofDestination object: MadeObject) throws -> DefaultValue? {
        try state.keeping {
            guard object.origin != .elsewhere else {
                throw PolicyFailure("values of objects that other mappings make cannot be read")
            }
            let column = try context.attributeColumn(name, object.entity)
            let cell = try context.writer.value(column.name, of: object)
            return try context.value(cell, name, object.entity)
        }
    }
}
