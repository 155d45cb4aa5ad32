import CoreDataStore
import ManagedObjectModel
package import MappingModel
package import SafeSQLite
import StoreFileChecks
import ValidationScans

extension Validator {
    /// Counts what a migration of the source loses, without a result.
    ///
    /// - Parameters:
    ///   - dropsHistory: whether persistent history goes.
    ///   - source: a connection to the source that is open already; nil opens one.
    /// - Returns: the greatest first, as the report on the result will have them.
    /// - Throws: `StoreError` where the source cannot be read.
    /// - Complexity: reads the tables that may lose something.
    package func losses(dropsHistory: Bool, source: Connection?) throws(StoreError) -> [Loss] {
        let reading = ValidationReading(self, source: source)
        var counts: [Loss.Subject: Int64] = [:]
        for table in scope.source.tables where mayLose(rowsOf: table) {
            let result = try run(.source(table: table.name, keys: .all), over: reading)
            counts.merge(result.losses) { $0 + $1 }
        }
        for join in scope.source.joinTables where !places.carry(join) || mayLose(linksIn: join.name)
        {
            let result = try run(.sourceJoin(table: join.name, keys: .all), over: reading)
            counts.merge(result.losses) { $0 + $1 }
        }
        if dropsHistory {
            counts[.history] = try KeptTablesCheck.transactions(in: reading.source)
        }
        return Loss.sorted(counts, renames: scope.intermediateRenames)
    }

    private func mayLose(rowsOf table: TableLayout) -> Bool {
        mayLose(linksIn: table.name)
            || scope.kinds(ofFamily: table.rootEntity).contains { kind in
                !LossRules(of: kind, in: table, scope: scope, places: places).isEmpty
            }
    }

    /// Whether a relationship that stays has no place for some links that a table may hold.
    private func mayLose(linksIn table: String) -> Bool {
        places.contains { place in
            place.feeds.contains { feed in
                feed.storage.table == table
                    && [feed.owner, feed.target].contains { end in
                        end.possible.contains { end.kept[$0] == nil }
                    }
            }
        }
    }
}
