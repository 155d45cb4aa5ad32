package import CoreDataStore
package import ManagedObjectModel
package import ModelFiles

/// What a forged store is made of.
///
/// Equal recipes give equal bytes: nothing comes from a clock or from chance, everything from the
/// seed and from `contents`.
package struct ForgeRecipe: Sendable {
    /// How keys are dealt out to the entities of one table.
    package enum KeyOrder: Hashable, Sendable {
        /// The rows of each entity follow each other.
        case byEntity
        /// Entities alternate, as rows of a real store do.
        case interleaved
    }

    /// What lies on the disk.
    package enum Journal: Hashable, Sendable {
        /// One file, marked as write-ahead logged, as Core Data leaves it behind.
        case writeAheadLog
        /// A `-wal` beside the file that holds the last rows of every table.
        case writeAheadLogWithContent
        /// One file with a rollback journal, as early Core Data wrote it.
        case rollback
    }

    package var model: Model
    package var seed: UInt64
    /// The Core Data version to write as: metadata, index era, model cache.
    package var framework: FrameworkVersion
    /// Rows by entity, sub-entities not counted; abstract entities have none.
    package var rows: [String: Int] = [:]
    /// Rows of every concrete entity that `rows` does not name.
    package var defaultRows = 20
    /// Lengths of binaries and transformables, in bytes; those from 0 include empty ones.
    package var blobBytes: ClosedRange<Int> = 0...200
    /// Lengths of texts, in bytes of UTF-8; those from 0 include empty ones.
    package var textBytes: ClosedRange<Int> = 0...40
    /// Lengths of single attributes, which go before `blobBytes` and `textBytes`.
    package var bytesByAttribute: [PropertyKey: ClosedRange<Int>] = [:]
    /// Values of binary attributes that do not follow from the seed.
    ///
    /// Each is asked once for every row, by its number from 0, in the order of keys; nil gives
    /// NULL.
    package var contents: [PropertyKey: @Sendable (Int) throws -> [UInt8]?] = [:]
    /// Values above this many bytes go to files, where their attribute allows it; nil keeps all in
    /// the database.
    package var externalThreshold: Int?
    /// The part of optional attributes that is NULL, 0 … 1.
    package var nullShare = 0.1
    /// The part of optional to-ones that lead to something, 0 … 1.
    package var linkShare = 0.8
    /// The part of to-ones whose target does not exist, 0 … 1.
    package var danglingShare = 0.0
    /// Objects in a to-many, as an aim.
    package var linksPerObject = 3
    /// The part of keys whose objects were deleted, 0 … 0.9; they leave gaps.
    package var deletedShare = 0.0
    /// The first key of every table.
    package var firstKey: Int64 = 1
    package var keyOrder = KeyOrder.interleaved
    /// Metadata of the app, which come before Core Data's own.
    package var metadata: [PropertyList.Entry] = []
    /// Whether the app has tables, indexes, a view and triggers of its own in the file.
    package var hasApplicationObjects = false
    /// Changes in persistent history; 0 leaves its tables out.
    package var historyRows = 0
    package var journal = Journal.writeAheadLog
    /// 4096 but for the oldest stores, which have 2048.
    package var pageSize = 4096

    package init(model: Model, framework: FrameworkVersion = .newestVerified, seed: UInt64 = 1) {
        self.model = model
        self.framework = framework
        self.seed = seed
    }

    /// The most rows of one table.
    package static let rowLimit = 1 << 31

    /// Metadata with a value of every property-list type.
    package static let sampleMetadata: [PropertyList.Entry] = [
        .init("appAccount", .string("Ünï©ode – 測試")),
        .init("appBuild", .integer(4_711)),
        .init("appFlags", .array([.boolean(true), .boolean(false)])),
        .init("appLastSync", .date(612_345_678.25)),
        .init("appLedger", .integer(-9_000_000_000)),
        .init("appRatio", .real(0.1)),
        .init("appScale", .shortReal(0.5)),
        .init("appSecret", .data([0, 1, 2, 254, 255])),
        .init(
            "appSettings",
            .dictionary([.init("depth", .integer(2)), .init("empty", .array([]))])),
    ]
}

extension ForgeRecipe {
    /// What is wrong with the numbers of the recipe; nil for nothing.
    var fault: String? {
        for (name, share) in [
            ("nullShare", nullShare), ("linkShare", linkShare), ("danglingShare", danglingShare),
        ] where !(0...1).contains(share) {
            return "\(name) is not between 0 and 1"
        }
        if !(0...0.9).contains(deletedShare) { return "deletedShare is not between 0 and 0.9" }
        if linksPerObject < 1 || linksPerObject > 1 << 20 {
            return "linksPerObject is out of range"
        }
        if !(1...(1 << 60)).contains(firstKey) { return "firstKey is out of range" }
        if defaultRows < 0 || historyRows < 0 { return "a number of rows is negative" }
        for (entity, count) in rows.sorted(by: { $0.key < $1.key }) {
            guard let found = model.entities[entity] else { return "there is no entity \(entity)" }
            if count < 0 { return "the rows of \(entity) are negative" }
            if found.isAbstract, count > 0 { return "\(entity) is abstract and can have no rows" }
        }
        for range in bytesByAttribute.values + [blobBytes, textBytes]
        where range.lowerBound < 0 || range.upperBound > 1 << 29 {
            return "a length is out of range"
        }
        return nil
    }
}
