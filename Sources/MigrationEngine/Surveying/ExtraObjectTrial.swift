import CoreDataStore
import DurableFiles
import GRDB

/// Finds out which objects of the schema that no model explains still fit the destination, by
/// making them in an empty one in memory. Nothing of them ever runs.
struct ExtraObjectTrial {
    let store: SourceStore
    let destination: StoreLayout

    /// One outcome for every extra object, in the order of the schema.
    ///
    /// - Throws: `StoreError` when the empty destination cannot be made.
    func outcomes() throws -> [ExtraObject] {
        let extras = store.extras
        guard !extras.isEmpty else { return [] }
        let trial = try Connection(path: FilePath("trial"), mode: .memory, named: store.path)
        FrameworkFunctions.register(trial)
        for table in destination.tables { try trial.execute(table.sql) }
        for join in destination.joinTables { try trial.execute(join.sql) }
        for index in destination.indexes { try trial.execute(index.sql) }
        for tree in destination.rTrees { try trial.execute(tree.sql) }
        for trigger in destination.triggers { try trial.execute(trigger.sql) }
        // Tables first: the others may be about them.
        let order: [SchemaObject.Kind] = [.table, .index, .view, .trigger]
        var outcomes: [ExtraObject] = []
        for kind in order {
            for object in extras where object.kind == kind {
                outcomes.append(outcome(of: object, in: trial))
            }
        }
        try trial.close()
        return outcomes
    }

    private func outcome(of object: SchemaObject, in trial: Connection) -> ExtraObject {
        if object.name.hasPrefix("sqlite_stat") {
            return ExtraObject(
                object: object, isKept: true, reason: "statistics of what is kept are carried over")
        }
        if let reason = refusal(of: object) {
            return ExtraObject(object: object, isKept: false, reason: reason)
        }
        do throws(StoreError) {
            try trial.execute("SAVEPOINT trial")
            try trial.create(object)
            try compile(object, in: trial)
            try trial.execute("RELEASE trial")
            return ExtraObject(object: object, isKept: true, reason: "it still fits")
        } catch {
            undo(trial)
            return ExtraObject(
                object: object, isKept: false, reason: "it does not fit the new schema")
        }
    }

    // What was made before the failure goes; a failure to go back would show in the next trial.
    private func undo(_ trial: Connection) {
        do throws(StoreError) { try trial.execute("ROLLBACK TO trial; RELEASE trial") } catch {
            return
        }
    }

    private func refusal(of object: SchemaObject) -> String? {
        switch object.kind {
        case .table:
            if object.isVirtual, !object.isRTree {
                return "virtual tables other than R-trees are not supported"
            }
            return nil
        case .index:
            // Key columns of join tables change their meaning with the entity numbers.
            if destination.joinTables.contains(where: { $0.name == object.table }) {
                return "a leftover on a join table"
            }
            return isRedundant(object) ? "the model has the same index" : nil
        case .trigger, .view:
            // Numbers of entities in the text would mean other entities.
            let renumbers = store.layout.entityOrder != destination.entityOrder
            let text = (object.sql ?? "").uppercased()
            return renumbers && text.contains("Z_ENT") && !text.contains("Z_ENT, Z_PK")
                ? "it may depend on entity numbers, which change" : nil
        }
    }

    /// Whether an index of the model covers the same columns in the same way.
    private func isRedundant(_ object: SchemaObject) -> Bool {
        guard let sql = object.sql, let open = sql.firstIndex(of: "(") else { return false }
        let list = sql[open...].uppercased().replacing(" COLLATE BINARY", with: "")
            .replacing(" ASC", with: "").replacing("\"", with: "")
        return destination.indexes.contains { index in
            guard index.table == object.table, index.condition == nil, !index.isUnique,
                !index.columns.contains(where: \.isDescending)
            else { return false }
            return list == "(\(index.columns.map(\.name).joined(separator: ", ")))"
        }
    }

    /// Compiles a statement that would run the object, without running it.
    private func compile(_ object: SchemaObject, in trial: Connection) throws(StoreError) {
        switch object.kind {
        case .trigger:
            let table = SQLText.quoted(object.table)
            for sql in [
                "INSERT INTO \(table) DEFAULT VALUES", "DELETE FROM \(table)",
                "UPDATE \(table) SET Z_PK = Z_PK",
            ] {
                _ = try trial.prepare("EXPLAIN \(sql)")
            }
        case .view: _ = try trial.prepare("SELECT * FROM \(SQLText.quoted(object.name))")
        case .table, .index: break
        }
    }
}
