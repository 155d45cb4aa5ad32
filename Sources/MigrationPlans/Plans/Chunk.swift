package import CoreDataStore
package import SafeSQLite

/// What a chunk holds.
package enum ChunkSubject: Hashable, Sendable, Codable {
    /// Rows of a feed, by its place in the plan.
    case feed(Int)
    /// Rows of a join table's feed: the join plan's place and the feed's place in it.
    case join(plan: Int, feed: Int)
}

/// Which rows of its subject a chunk holds.
package enum Selection: Hashable, Sendable, Codable {
    /// A range of keys: `Z_PK` of tables, the owner's key or the row's number of joins.
    case keys(KeyRange)
    /// Rows of some source entities in a range of keys.
    case entities([Int64], KeyRange)
    /// Rows that the routing pass put into a list, by the places of route and list.
    case listed(route: Int, list: Int)
}

/// A place in the order of a routing pass: by UUID prefix, then by key.
package struct RoutePoint: Hashable, Sendable, Codable {
    /// The first 63 bits of the UUID.
    package var prefix: Int64
    package var key: Int64

    package init(prefix: Int64, key: Int64) {
        self.prefix = prefix
        self.key = key
    }
}

/// Which rows a routing pass puts into one list.
package enum RouteList: Hashable, Sendable, Codable {
    /// Rows behind those of the list before, up to a point; nil is open.
    case points(upTo: RoutePoint?)
    /// Rows whose UUID is missing or cannot be read, in a range of keys.
    case remainder(KeyRange)
}

/// A routing pass over one UUID attribute: its file is made in the prepare stage.
package struct RoutePlan: Hashable, Sendable, Codable {
    /// The attribute by the entity that declares it.
    package var attribute: PropertyKey
    package var sourceTable: String
    package var column: String
    /// Lists by points in their order, then those of the remainder; none before chunks are cut.
    package var lists: [RouteList] = []

    package init(attribute: PropertyKey, sourceTable: String, column: String) {
        self.attribute = attribute
        self.sourceTable = sourceTable
        self.column = column
    }
}

/// A part of one table's rows: what one copy job processes.
package struct Chunk: Hashable, Sendable, Codable {
    package var subject: ChunkSubject
    package var selection: Selection
    /// Estimated bytes.
    package var bytes: Int64

    package init(subject: ChunkSubject, selection: Selection, bytes: Int64) {
        self.subject = subject
        self.selection = selection
        self.bytes = bytes
    }
}

extension Chunk {
    /// Whether the keys of a subject's chunks ascend from chunk to chunk, so that their shards
    /// can be appended.
    package var isAscending: Bool {
        if case .keys = selection { true } else { false }
    }
}

/// A part of one link plan: what one link job processes.
package struct LinkChunk: Hashable, Sendable, Codable {
    /// The link plan's place in the plan.
    package var link: Int
    /// A range of keys of the rows that are filled (targets and owners), or of the list's
    /// holder for places in lists, in source keys.
    package var keys: KeyRange

    package init(link: Int, keys: KeyRange) {
        self.link = link
        self.keys = keys
    }
}
