import CoreDataStore

/// Makes the indexes of a destination after its rows: the seam behind which faster ways can
/// stand.
struct IndexBuilder {
    let connection: Connection

    /// Makes the indexes one by one, each sorted outside the page cache.
    ///
    /// - Parameters:
    ///   - indexes: in the order of the layout.
    ///   - store: the source, as errors name it.
    /// - Throws: `EngineError.dataRefused` when a unique index finds equal values.
    func build(_ indexes: [IndexLayout], store: String) throws(EngineError) {
        for index in indexes {
            do {
                try connection.execute(index.sql)
            } catch {
                guard index.isUnique else { throw .store(error) }
                throw .dataRefused(
                    "\(store): objects have equal values where the index \(index.name) allows "
                        + "none. Nothing was written; mend the data, or drop the uniqueness "
                        + "constraint from the destination model")
            }
        }
    }
}
