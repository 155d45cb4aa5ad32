import CoreDataStore
import GRDB

/// Stand-ins for the SQL functions that triggers of Core Data call and only Core Data has
/// (format page §12): they let such triggers be compiled, and return NULL if one ever ran.
enum FrameworkFunctions {
    private static let names = [
        "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
        "NSCoreDataDATriggerUpdatedAffectedObjectValue",
        "NSCoreDataTriggerUpdateAffectedObjectValue", "NSCoreDataNow", "NSCoreDataCanonical",
        "NSCoreDataToUpper", "NSCoreDataToLower", "NSPersistentHistoryBatchDeleteUpdateTrigger",
    ]

    static func register(_ connection: Connection) {
        connection.queue.inDatabase { database in
            for name in names {
                database.add(function: DatabaseFunction(name) { _ in nil })
            }
        }
    }
}
