package import CoreDataStore
import ManagedObjectModel
package import MigrationPlanning
package import MigrationValidation

/// What migrations of stores of the same app have in common, worked out once for all of them.
///
/// Everything in it follows from its keys alone; many threads use it.
package final class MigrationCache: Sendable {
    /// What planning and copying work out.
    package let planning = PlanningCache()
    /// What validations work out, by code of their own.
    package let validations = ValidationCache()

    /// The versions that stores are written as on their way to another one.
    let versions = Memo<Model, DestinationModel>(limit: 32)

    package init() {}

    /// What opening stores works out.
    package var stores: StoreCache { planning.stores }
}
