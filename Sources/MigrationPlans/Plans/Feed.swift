package import ManagedObjectModel
package import SafeSQLite

/// Rows of one source table that go into one destination table.
package struct Feed: Hashable, Sendable, Codable {
    package var sourceTable: String
    package var destinationTable: String
    /// Destination key = source key + offset.
    package var offset: Int64
    /// 0, or a higher number where rows come through a further entity mapping into the same table.
    package var layer: Int
    package var entities: [EntityFeed]
    /// One for every column of the destination after `Z_PK`, `Z_ENT`, `Z_OPT`, in its order.
    package var columns: [FeedColumn]

    package init(
        sourceTable: String, destinationTable: String, offset: Int64, layer: Int,
        entities: [EntityFeed], columns: [FeedColumn]
    ) {
        self.sourceTable = sourceTable
        self.destinationTable = destinationTable
        self.offset = offset
        self.layer = layer
        self.entities = entities
        self.columns = columns
    }
}

/// Rows of one source entity that become rows of one destination entity.
package struct EntityFeed: Hashable, Sendable, Codable {
    package var source: String
    /// The number in the source's rows, or that of a variant.
    package var sourceNumber: Int64
    package var destination: String
    package var destinationNumber: Int64
    /// The place of the entity mapping in the plan's mapping: one source entity can have several.
    package var pass: Int

    package init(
        source: String, sourceNumber: Int64, destination: String, destinationNumber: Int64,
        pass: Int
    ) {
        self.source = source
        self.sourceNumber = sourceNumber
        self.destination = destination
        self.destinationNumber = destinationNumber
        self.pass = pass
    }
}

/// One destination column of a feed.
package struct FeedColumn: Hashable, Sendable, Codable {
    package var name: String
    /// What the rows of each source entity get; entities that are not named get NULL.
    package var cells: [EntityCell]

    package init(name: String, cells: [EntityCell]) {
        self.name = name
        self.cells = cells
    }
}

/// The same cell for the rows of some source entities.
package struct EntityCell: Hashable, Sendable, Codable {
    package var sourceNumbers: [Int64]
    package var cell: Cell

    package init(sourceNumbers: [Int64], cell: Cell) {
        self.sourceNumbers = sourceNumbers
        self.cell = cell
    }
}

/// Where the value of a destination cell comes from, in columns of the source row.
package enum Cell: Hashable, Sendable, Codable {
    case column(String)
    /// The column's value, or the default for NULL.
    case columnOrDefault(String, DefaultValue)
    case constant(DefaultValue)
    /// What an expression gives for the row.
    case computed(ComputedCell)
    /// The column's value with the prefix byte of inline storage put before it.
    case addingPrefix(String)
    /// The column's value without prefix byte; a reference is replaced by its file's content.
    case removingPrefix(String)
    /// A key of an object in a source table, moved by the offset that its entity has.
    case key(KeyValue, entity: KeyValue?, table: String, targets: [Target])
    /// The entity number of a key's target, in the destination's numbers.
    case entityNumber(KeyValue, entity: KeyValue?, table: String, targets: [Target])
}

/// Where a row's link is read: the key of a target, or the number of its entity.
package enum KeyValue: Hashable, Sendable, Codable {
    case column(String)
    /// What a path of to-one relationships leads to.
    case path(SourcePath)
    /// The number of the object behind a path, in a table of the source: its entity's, or a
    /// variant's.
    case number(SourcePath, table: String)
}

/// What becomes of links to objects of one source entity.
package struct Target: Hashable, Sendable, Codable {
    /// An entity's number, or a variant's.
    package var sourceNumber: Int64
    /// Where those objects are in the destination; nil when they are dropped.
    package var place: Place?
    /// Whether the source table holds no other entity: then every row is such an object,
    /// whatever its `Z_ENT` says.
    package var isAlone: Bool

    /// An entity number and an offset of keys, both of the destination.
    package struct Place: Hashable, Sendable, Codable {
        package var number: Int64
        package var offset: Int64
        /// The source keys that stay clear of other sources' keys in the destination's table.
        ///
        /// Objects have no others; references to what is not there can.
        package var keys: KeyRange

        package init(number: Int64, offset: Int64, keys: KeyRange = .all) {
            self.number = number
            self.offset = offset
            self.keys = keys
        }
    }

    package init(sourceNumber: Int64, place: Place?, isAlone: Bool = false) {
        self.sourceNumber = sourceNumber
        self.place = place
        self.isAlone = isAlone
    }
}

extension [Target] {
    /// The one offset that all targets share; nil where they differ or one is dropped.
    package var commonOffset: Int64? {
        guard let first = first?.place?.offset else { return nil }
        return allSatisfy { $0.place?.offset == first } ? first : nil
    }

    /// The keys that may be moved: those that stay clear of other sources' keys in every place.
    ///
    /// Objects have no others. A reference to what is not there can, and nothing may tell which of
    /// the targets it meant.
    package var keys: KeyRange {
        lazy.compactMap { $0.place?.keys }.reduce(.all) { $0.intersection($1) }
    }

    /// The one number that all targets become; nil where they differ or one is dropped.
    package var commonNumber: Int64? {
        guard let first = first?.place?.number else { return nil }
        return allSatisfy { $0.place?.number == first } ? first : nil
    }
}
