import SafeSQLite

/// What an import of part files leaves in a store.
package enum ImportTraces {
    /// The key of the metadata under which the store says what is imported; it stays.
    package static let metadataKey = "GodwitImport"
    /// The table of links whose targets no part has brought yet; it goes when the import has ended.
    package static let linkTable = "GODWIT_IMPORT_LINK"

    /// Why a store cannot be migrated yet; nil where no import is under way.
    ///
    /// The table names objects by numbers of entities, which a migration changes.
    package static func refusal(of store: SourceStore) -> String? {
        guard store.schema.hasTable(linkTable) else { return nil }
        return "an import into it is unfinished, and links wait for objects of later parts; finish "
            + "the import first"
    }
}
