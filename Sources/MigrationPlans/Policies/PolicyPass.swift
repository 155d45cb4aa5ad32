package import CoreDataStore
package import SafeSQLite

/// What a migration policy does to the objects of one entity mapping.
package struct PolicyPass: Hashable, Sendable, Codable {
    /// The place of the entity mapping in the plan's mapping.
    package var mapping: Int
    /// The name of the policy's class.
    package var className: String
    /// The source table of its objects.
    package var sourceTable: String
    /// The numbers that its source objects have: entities', or variants'.
    package var sourceNumbers: [Int64]
    /// What is added to the keys of the source objects.
    package var offset: Int64
    /// The destination objects that the mapping makes.
    package var objects: ObjectRange
    /// What the policy makes beside them, in the order of its declaration.
    package var blocks: [ObjectBlock]
    /// The join tables in which it links objects.
    package var joins: [String]

    package init(
        mapping: Int, className: String, sourceTable: String, sourceNumbers: [Int64],
        offset: Int64, objects: ObjectRange, blocks: [ObjectBlock], joins: [String] = []
    ) {
        self.mapping = mapping
        self.className = className
        self.sourceTable = sourceTable
        self.sourceNumbers = sourceNumbers
        self.offset = offset
        self.objects = objects
        self.blocks = blocks
        self.joins = joins
    }
}

/// Destination objects of one entity in a range of keys.
package struct ObjectRange: Hashable, Sendable, Codable {
    package var entity: String
    /// The entity's number.
    package var number: Int64
    package var table: String
    /// Of the destination.
    package var keys: KeyRange

    package init(entity: String, number: Int64, table: String, keys: KeyRange) {
        self.entity = entity
        self.number = number
        self.table = table
        self.keys = keys
    }
}

/// Keys that are reserved for the objects that a policy makes of one entity.
///
/// An object's key follows from that of the source object which it is made for, whatever chunk that
/// lies in: every way to cut a store and every try give the same keys.
package struct ObjectBlock: Hashable, Sendable, Codable {
    package var objects: ObjectRange
    /// The key below the first of the block.
    package var base: Int64
    /// The most objects for one source object.
    package var most: Int64
    /// Attributes by which objects are found, with their columns; empty where they are not.
    package var key: [KeyColumn]

    package init(objects: ObjectRange, base: Int64, most: Int64, key: [KeyColumn]) {
        self.objects = objects
        self.base = base
        self.most = most
        self.key = key
    }

    /// The objects as records name them; nil where they are not found by a key.
    package var found: PolicyRows.Found? {
        key.isEmpty
            ? nil
            : PolicyRows.Found(
                table: objects.table, number: objects.number, columns: key.map(\.column))
    }

    /// The key of an object.
    ///
    /// - Parameters:
    ///   - source: the key of the source object, at least 1.
    ///   - place: among the objects that are made for that one, from 0.
    /// - Returns: a key of the block.
    package func key(forSource source: Int64, at place: Int64) -> Int64 {
        base + (source - 1) * most + place + 1
    }
}

/// An attribute by which objects are found.
package struct KeyColumn: Hashable, Sendable, Codable {
    package var attribute: String
    package var column: String

    package init(attribute: String, column: String) {
        self.attribute = attribute
        self.column = column
    }
}
