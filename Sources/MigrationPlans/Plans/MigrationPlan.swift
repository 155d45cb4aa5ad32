package import CoreDataStore
package import ManagedObjectModel
package import MappingModel
package import SafeSQLite

/// Everything that is decided about one store before a row is read for good: what a worker needs
/// beside the files, and what `godwit plan` shows.
///
/// A pure value; equal inputs give equal plans. It is written as JSON, and jobs name it by the
/// digest of that text.
package struct MigrationPlan: Hashable, Sendable, Codable {
    /// The version of the engine, part of every plan: it rises whenever equal inputs would give
    /// other shards, or plans have another form.
    package static let engineVersion = "15"

    /// The engine that made the plan; chunks of a plan never come from another one.
    package var engine: String
    package var options: PlanOptions
    package var sourceModel: Model
    package var destinationModel: Model
    package var sourceFramework: FrameworkVersion
    /// The framework version that the result is written as.
    package var framework: FrameworkVersion
    package var mapping: Mapping
    /// The mapping file that it comes from, as the user named it; nil for an inferred one.
    package var mappingName: String?
    /// The steps that the mapping joins, in their order; none for a rewrite.
    package var steps: [PlanStep] = []
    /// How many stores were written on the way to the one that the plan reads; 0 for the original.
    package var leg = 0
    /// Source entities whose objects filters tell apart.
    package var splits: [EntitySplit] = []
    /// Rows of split entities, by the number of each variant and of the entity itself.
    ///
    /// The text of a plan has dictionaries in one order only where their keys are `String` or
    /// `Int`; equal plans need equal texts.
    package var variantRows: [Int: Int64] = [:]
    /// One for every entity mapping that carries objects, in their order.
    package var passes: [PassMove] = []
    /// What migration policies do, in the order of the entity mappings.
    package var policies: [PolicyPass] = []
    /// Rows of which something comes from policies, with what is recorded of them.
    package var recordedRows: [RecordedRows] = []
    /// Rows of join tables that come from policies.
    package var policyLinks: [PolicyLinks] = []
    /// One for every pair of a source table and the destination table that it feeds; one more for
    /// each further entity mapping of the same objects.
    package var feeds: [Feed]
    /// One for every join table of the destination.
    package var joins: [JoinPlan]
    /// Columns of entity tables that the link stage fills.
    package var links: [LinkPlan]
    /// Routing passes over UUID attributes, for chunks that are cut by prefix.
    package var routes: [RoutePlan]
    /// The parts of all copies, in the order in which their shards are merged.
    package var chunks: [Chunk]
    /// Ranges of keys by source table: the parts in which validation reads it.
    package var sourceRanges: [String: [KeyRange]]
    /// The parts of all links, in the order in which they are applied.
    package var linkChunks: [LinkChunk]
    /// `Z_MAX` of each root entity of the destination.
    package var maxima: [String: Int64]
    /// What happens to tables, for people.
    package var tables: [TableOutcome]
    /// What happens to objects of the schema that the model does not explain.
    package var extras: [ExtraObject]
    /// Objects whose URI changes, by destination entity; entities without any are left out.
    package var changedURIs: [String: Int64]
    /// Rows of the source by entity name.
    package var sourceRows: [String: Int64]
    /// Things that people should know; nothing here stops the migration.
    package var notes: [String]
    /// What a version in between renames and this migration drops, by what the source calls it.
    package var intermediateRenames: [String: IntermediateRename] = [:]
    package var resources: Resources
    /// Chosen from the options and the store's size.
    package var strategy: Strategy

    package init(
        engine: String, options: PlanOptions, sourceModel: Model, destinationModel: Model,
        sourceFramework: FrameworkVersion, framework: FrameworkVersion, mapping: Mapping,
        mappingName: String? = nil, steps: [PlanStep] = [], leg: Int = 0,
        splits: [EntitySplit] = [], variantRows: [Int: Int64] = [:], passes: [PassMove] = [],
        policies: [PolicyPass] = [], recordedRows: [RecordedRows] = [], feeds: [Feed],
        joins: [JoinPlan], links: [LinkPlan], routes: [RoutePlan], chunks: [Chunk],
        sourceRanges: [String: [KeyRange]], linkChunks: [LinkChunk], maxima: [String: Int64],
        tables: [TableOutcome], extras: [ExtraObject], changedURIs: [String: Int64],
        sourceRows: [String: Int64], notes: [String],
        intermediateRenames: [String: IntermediateRename] = [:], resources: Resources,
        strategy: Strategy
    ) {
        self.engine = engine
        self.options = options
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
        self.sourceFramework = sourceFramework
        self.framework = framework
        self.mapping = mapping
        self.mappingName = mappingName
        self.steps = steps
        self.leg = leg
        self.splits = splits
        self.variantRows = variantRows
        self.passes = passes
        self.policies = policies
        self.recordedRows = recordedRows
        self.feeds = feeds
        self.joins = joins
        self.links = links
        self.routes = routes
        self.chunks = chunks
        self.sourceRanges = sourceRanges
        self.linkChunks = linkChunks
        self.maxima = maxima
        self.tables = tables
        self.extras = extras
        self.changedURIs = changedURIs
        self.sourceRows = sourceRows
        self.notes = notes
        self.intermediateRenames = intermediateRenames
        self.resources = resources
        self.strategy = strategy
    }

    /// What the sums over what policies make are called; empty where they make nothing.
    package var recordedLabels: [String] {
        recordedRows.flatMap { rows in rows.columns.map { rows.label(of: $0) } }
            + policyLinks.map(\.label)
    }
}

/// How the keys of the objects of an entity mapping move.
package struct PassMove: Hashable, Sendable, Codable {
    /// Its place in the plan's mapping.
    package var mapping: Int
    /// 0, or a higher number for further mappings that put the same objects into one table.
    package var layer: Int
    /// Destination key = source key + offset.
    package var offset: Int64

    package init(mapping: Int, layer: Int, offset: Int64) {
        self.mapping = mapping
        self.layer = layer
        self.offset = offset
    }
}

/// How a store is migrated.
package enum Strategy: String, Hashable, Sendable, Codable, CaseIterable {
    /// One job, without shards.
    case whole
    /// Chunks, shards, merge.
    case partitioned
}

/// How large tables are cut.
package enum PartitionMode: Hashable, Sendable, Codable {
    /// The cheapest mode that bounds a job's bytes: ranges of keys.
    case auto
    /// Ranges of `Z_PK`, cut at equal bytes.
    case key
    /// One entity a chunk, cut further by key.
    case entity
    /// Prefixes of UUID attributes; tables of other entities go by `auto`.
    case uuid([PropertyKey])
}

/// What becomes of persistent history.
package enum HistoryPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    case drop, keep
}

/// What the user chose.
package struct PlanOptions: Hashable, Sendable, Codable {
    /// Nil lets the store's size decide.
    package var strategy: Strategy?
    package var partition: PartitionMode
    /// The bytes that a chunk may hold.
    package var chunkBytes: Int64
    package var history: HistoryPolicy
    package var dangling: DanglingPolicy
    package var allowsMissingExternalData: Bool
    package var linksExternalData: Bool
    /// Nil takes the template's or the source's, at least the newest verified one.
    package var framework: FrameworkVersion?
    package var losses: LossPolicy
    /// Mapping files; each store takes the one for its version.
    package var mappings: [MappingChoice] = []
    /// Through which versions stores go.
    package var ways = VersionWays()
    /// What the migration policies say of themselves that mappings may name.
    package var policies: [PolicyDeclaration] = []
    /// What `now()` gives in mappings, the same for every try: seconds since 2001-01-01 00:00:00
    /// UTC; 0 without mappings.
    package var now: Double = 0
    /// Versions whose stores are refused because the destination is older.
    package var newerVersions = NewerVersions()
    /// Names for reports.
    package var versionNames = VersionNames()
    /// What versions in between rename, of the stores' versions.
    package var intermediateRenames = IntermediateRenames()

    /// 64 MiB: bounds a slot's memory and keeps a lost attempt cheap.
    package static let standardChunkBytes: Int64 = 64 << 20
    /// Stores up to this size are migrated as a whole unless the user says otherwise.
    package static let wholeLimit: Int64 = 32 << 20

    package init(
        strategy: Strategy? = nil, partition: PartitionMode = .auto,
        chunkBytes: Int64 = PlanOptions.standardChunkBytes, history: HistoryPolicy = .drop,
        dangling: DanglingPolicy = .keep, allowsMissingExternalData: Bool = false,
        linksExternalData: Bool = false, framework: FrameworkVersion? = nil,
        losses: LossPolicy = .report
    ) {
        self.strategy = strategy
        self.partition = partition
        self.chunkBytes = chunkBytes
        self.history = history
        self.dangling = dangling
        self.allowsMissingExternalData = allowsMissingExternalData
        self.linksExternalData = linksExternalData
        self.framework = framework
        self.losses = losses
    }
}

// Requests in ledgers outlive versions of the program: what a later version added has there the
// value that means what the earlier one did.
extension PlanOptions {
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys, else other: Value) throws -> Value {
            try values.decodeIfPresent(Value.self, forKey: key) ?? other
        }
        self.init(
            strategy: try values.decodeIfPresent(Strategy.self, forKey: .strategy),
            partition: try values.decode(PartitionMode.self, forKey: .partition),
            chunkBytes: try values.decode(Int64.self, forKey: .chunkBytes),
            history: try values.decode(HistoryPolicy.self, forKey: .history),
            dangling: try values.decode(DanglingPolicy.self, forKey: .dangling),
            allowsMissingExternalData: try values.decode(
                Bool.self, forKey: .allowsMissingExternalData),
            linksExternalData: try values.decode(Bool.self, forKey: .linksExternalData),
            framework: try values.decodeIfPresent(FrameworkVersion.self, forKey: .framework),
            losses: try value(.losses, else: .report))
        mappings = try value(.mappings, else: [])
        ways = try value(.ways, else: VersionWays())
        policies = try value(.policies, else: [])
        now = try value(.now, else: 0)
        newerVersions = try value(.newerVersions, else: NewerVersions())
        versionNames = try value(.versionNames, else: VersionNames())
        intermediateRenames = try value(.intermediateRenames, else: IntermediateRenames())
    }
}

/// What a migration needs beside the source, in bytes.
package struct Resources: Hashable, Sendable, Codable {
    /// The source's database.
    package var sourceBytes: Int64
    /// The most that snapshot, shards and result take at one time, external files included.
    package var diskBytes: Int64
    /// The most files at one time.
    package var files: Int64
    /// Memory of one slot beyond the largest single value.
    package var slotMemoryBytes: Int64

    package init(sourceBytes: Int64, diskBytes: Int64, files: Int64, slotMemoryBytes: Int64) {
        self.sourceBytes = sourceBytes
        self.diskBytes = diskBytes
        self.files = files
        self.slotMemoryBytes = slotMemoryBytes
    }
}

/// What happens to one table, for people.
package struct TableOutcome: Hashable, Sendable, Codable {
    /// What becomes of the table.
    package enum Action: String, Hashable, Sendable, Codable {
        case copied, rebuilt, added, dropped
    }

    package var table: String
    package var action: Action
    /// Tables of the source that feed it.
    package var sources: [String]
    package var rows: Int64
    package var chunks: Int
    /// Columns that are new, gone or renamed, in words.
    package var changes: [String]

    package init(
        table: String, action: Action, sources: [String], rows: Int64, chunks: Int,
        changes: [String]
    ) {
        self.table = table
        self.action = action
        self.sources = sources
        self.rows = rows
        self.chunks = chunks
        self.changes = changes
    }
}

/// A schema object that the destination's model does not explain.
package struct ExtraObject: Hashable, Sendable, Codable {
    package var object: SchemaObject
    package var isKept: Bool
    package var reason: String

    package init(object: SchemaObject, isKept: Bool, reason: String) {
        self.object = object
        self.isKept = isKept
        self.reason = reason
    }
}
