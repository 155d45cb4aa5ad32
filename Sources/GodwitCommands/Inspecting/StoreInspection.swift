import SafeSQLite

/// Everything that `godwit inspect` reports of a store.
///
/// Its JSON is documented in `docs/reference/json.md`. No value of a user's row is in it.
struct StoreInspection: Hashable, Sendable, Codable {
    var store: String
    var file: FileFacts
    var model: ModelFacts
    /// By number.
    var entities: [EntityFacts]
    /// Tables of root entities, by number.
    var tables: [TableFacts]
    var joinTables: [JoinTableFacts]
    /// Nil where persistent history was never on.
    var history: HistoryFacts?
    /// Attributes that allow external storage.
    var externalData: [ExternalDataFacts]
    /// Objects of the schema that neither the model nor Core Data itself explains.
    var extras: [ExtraFacts]
    /// What the model asks of a store and godwit does not build.
    var unsupported: [String]
    /// Everything else that is unusual.
    var oddities: [String]

    /// The database file and what lies beside it.
    struct FileFacts: Hashable, Sendable, Codable {
        /// Of the database, with the `-wal` applied where it has content.
        var bytes: Int64
        var pageSize: Int
        var pages: Int64
        var freePages: Int64
        var isWriteAheadLogged: Bool
        /// Bytes of the `-wal`; nil where there is none.
        var writeAheadLogBytes: Int64?
        /// Bytes of the `-journal`; nil where there is none.
        var rollbackJournalBytes: Int64?
        /// Whether the counts come from a copy with the `-wal` or the journal applied.
        var isSnapshot: Bool
        /// Whether every page was checked.
        var isChecked: Bool
    }

    /// What the metadata say of the model.
    struct ModelFacts: Hashable, Sendable, Codable {
        /// Whether the store holds its model; else it was given with `--from`.
        var isCached: Bool
        var versionIdentifiers: [String]
        /// `NSPersistenceFrameworkVersion`.
        var framework: Int
        /// Of the stored version hashes, computed where the metadata hold none.
        var digest: String
        /// Keys of the metadata that are the app's own.
        var applicationKeys: Int
        /// How far an import of part files is; nil where there was none.
        var importState: ImportState?
    }

    /// How far an import of part files is.
    enum ImportState: String, Hashable, Sendable, Codable {
        case finished
        /// Parts are left, or links wait for objects of later parts.
        case unfinished
    }

    /// One entity.
    struct EntityFacts: Hashable, Sendable, Codable {
        var number: Int64
        var name: String
        var parent: String?
        var isAbstract: Bool
        var table: String
        /// Rows of exactly this entity.
        var rows: Int64
    }

    /// One table of entities.
    struct TableFacts: Hashable, Sendable, Codable {
        var name: String
        var rows: Int64
        /// Estimated from a sample of leaves, overflow pages included, indexes left out.
        var bytes: Int64
        /// `Z_MAX`: the highest key ever given out.
        var maximum: Int64
    }

    /// One join table.
    struct JoinTableFacts: Hashable, Sendable, Codable {
        var name: String
        /// The relationship that names it.
        var relationship: String
        var inverse: String
        var rows: Int64
    }

    /// Rows of persistent history.
    struct HistoryFacts: Hashable, Sendable, Codable {
        var transactions: Int64
        var changes: Int64
    }

    /// One attribute that allows external storage.
    struct ExternalDataFacts: Hashable, Sendable, Codable {
        var attribute: String
        /// Rows with a value.
        var values: Int64
        /// Values that are references to files.
        var references: Int64
        /// References whose file is not there.
        var missing: Int64
        /// References that name no file as Core Data does.
        var malformed: Int64
    }

    /// One object of the schema that the model does not explain.
    struct ExtraFacts: Hashable, Sendable, Codable {
        var kind: SchemaObject.Kind
        var name: String
        var table: String
        /// What is lost with it, in words; nil where nothing is.
        var remark: String?
    }
}
