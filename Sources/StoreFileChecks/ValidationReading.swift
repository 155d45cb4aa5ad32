package import CoreDataStore
package import SafeSQLite

/// Both files of a validation, for parts that run one after the other.
///
/// Parts that share one open both files once; used by one thread at a time.
package final class ValidationReading {
    package let source: FileReading
    package let destination: FileReading

    /// - Parameters:
    ///   - files: to be read.
    ///   - layouts: of the source and the destination.
    ///   - stores: what is known of stores of the same app.
    ///   - schemas: what is known of files of the same schema.
    ///   - isShared: whether more than one part reads.
    ///   - opened: a connection to the source that is open already; nil opens one.
    ///   - schema: of the source, where it was read already.
    package init(
        _ files: ValidationFiles, layouts: (source: StoreLayout, destination: StoreLayout),
        stores: StoreCache, schemas: SchemaCache, isShared: Bool,
        source opened: Connection? = nil, schema: StoreSchema? = nil
    ) {
        source = FileReading(
            files.source, layout: layouts.source, stores: stores, schemas: schemas,
            cacheKibibytes: files.cacheKibibytes, isShared: isShared, opened: opened,
            schema: schema)
        destination = FileReading(
            files.destination, layout: layouts.destination, stores: stores, schemas: schemas,
            cacheKibibytes: files.cacheKibibytes, isShared: isShared)
    }
}
