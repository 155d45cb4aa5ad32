package import SafeSQLite
package import StoreFileChecks
import ValidationScans

extension ValidationReading {
    /// The files of a validator.
    ///
    /// - Parameters:
    ///   - validator: whose files are read.
    ///   - isShared: whether more than one part reads.
    ///   - opened: a connection to the source that is open already; nil opens one.
    ///   - schema: of the source, where it was read already.
    package convenience init(
        _ validator: Validator, isShared: Bool = true, source opened: Connection? = nil,
        schema: StoreSchema? = nil
    ) {
        let scope = validator.scope
        self.init(
            validator.files, layouts: (scope.source, scope.destination), stores: scope.stores,
            schemas: scope.cache.schemas, isShared: isShared, source: opened,
            schema: schema)
    }
}
