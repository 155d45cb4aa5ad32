package import CoreDataStore
import DurableFiles
package import MigrationPlans
import SafeSQLite

/// Finds out which objects of the schema that no model explains still fit the destination.
///
/// They are made in an empty one in memory. Nothing of them ever runs.
package struct ExtraObjectTrial {
    let store: SourceStore
    let destination: StoreLayout

    /// A trial of a store's objects in a layout that they may fit.
    package init(store: SourceStore, destination: StoreLayout) {
        self.store = store
        self.destination = destination
    }

    /// One outcome for every extra object, in the order of the schema.
    ///
    /// - Throws: `StoreError` when the empty destination cannot be made.
    package func outcomes() throws -> [ExtraObject] {
        let extras = store.extras
        guard !extras.isEmpty else { return [] }
        let trial = try Connection(path: FilePath("trial"), mode: .memory, named: store.path)
        try FrameworkFunctions.register(
            trial, calledIn: extras.compactMap(\.sql) + destination.triggers.map(\.sql.description))
        for definition in destination.definitions { try trial.create(definition) }
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
        if object.kind == .table, object.name.hasPrefix("sqlite_") {
            let isKept = object.name == "sqlite_stat1"
            return ExtraObject(
                object: object, isKept: isKept,
                reason: isKept
                    ? "statistics of what is kept are carried over"
                    : "an internal SQLite table that SQLite recreates when needed")
        }
        if let reason = refusal(of: object) {
            return ExtraObject(object: object, isKept: false, reason: reason)
        }
        do throws(StoreError) {
            try trial.execute("SAVEPOINT trial")
            let before = failures(object, in: trial)
            try trial.create(object)
            try check(object, before: before, in: trial)
            try trial.execute("RELEASE trial")
            return ExtraObject(
                object: object, isKept: true, reason: "compatible with the new schema")
        } catch {
            undo(trial)
            return ExtraObject(object: object, isKept: false, reason: reason(for: error))
        }
    }

    /// What SQLite misses, where its message says that something the app brought is not here.
    private func reason(for error: StoreError) -> String {
        let text = error.sqliteReason ?? ""
        if let name = name(behind: "no such collation sequence: ", in: text) {
            return "its collation \(name) is the app's own"
        }
        if let name = name(behind: "no such function: ", in: text) {
            return "it calls \(name), a function that SQLite does not have: the app's own, or of "
                + "a newer version"
        }
        if let name = name(behind: "not authorized to use function: ", in: text) {
            return "it calls \(name), which is not a pure SQLite function"
        }
        if let name = name(behind: "no such table: ", in: text) {
            let table = name.hasPrefix("main.") ? String(name.dropFirst(5)) : name
            return "the table \(table), which it needs, is not in the result"
        }
        return "it does not fit the new schema"
    }

    private func name(behind words: String, in text: String) -> String? {
        guard let found = text.firstRange(of: words) else { return nil }
        return String(text[found.upperBound...])
    }

    // What was made before the failure goes; a failure to go back would show in the next trial.
    private func undo(_ trial: Connection) {
        do throws(StoreError) {
            try trial.execute("ROLLBACK TO trial")
            try trial.execute("RELEASE trial")
        } catch {
            return
        }
    }

    private func refusal(of object: SchemaObject) -> String? {
        switch object.kind {
        case .table:
            return object.lostContent.map { "it is \($0)" }
        case .index:
            // Key columns of join tables change their meaning with the entity numbers.
            if destination.joinTables.contains(where: { $0.name == object.table }) {
                return "a leftover on a join table"
            }
            if isRedundant(object) { return "the model has the same index" }
            let condition = (object.sql ?? "").uppercased().split(separator: "WHERE", maxSplits: 1)
            return condition.count > 1 && dependsOnNumbers(String(condition[1]))
                ? "it depends on entity numbers, which change" : nil
        case .trigger, .view:
            return dependsOnNumbers(object.sql ?? "")
                ? "it may depend on entity numbers, which change" : nil
        }
    }

    /// Whether a text names entity numbers, or columns and tables that are named by them, while
    /// entities get other numbers: it would mean other entities.
    private func dependsOnNumbers(_ sql: String) -> Bool {
        guard store.layout.entityOrder != destination.entityOrder else { return false }
        let words = sql.uppercased().split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        return words.contains { word in
            guard word.hasPrefix("Z") else { return false }
            let rest = word.dropFirst().drop { $0 == "_" }
            return word == "Z_ENT" || word.hasPrefix("Z_FOK_") || rest.first?.isNumber == true
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

    /// Checks that an object that was made can be used, without running it.
    ///
    /// A trigger must leave every statement possible that was possible before it, and one on a
    /// view must make one possible.
    private func check(
        _ object: SchemaObject, before: [StoreError?], in trial: Connection
    ) throws(StoreError) {
        switch object.kind {
        case .trigger:
            let after = failures(object, in: trial)
            // On a view, nothing could be compiled before its trigger.
            let isOnView = !before.contains { $0 == nil }
            for (before, after) in zip(before, after) {
                if before == nil, let after { throw after }
            }
            if isOnView, let first = after.first, let first, !after.contains(nil) { throw first }
            guard try hasWatchedColumns(object, in: trial) else {
                throw .notAStore(path: trial.path, reason: "trigger \(object.name) does not fit")
            }
        case .view: _ = try trial.prepare("SELECT * FROM \(SQLText.quoted(object.name))")
        case .table:
            // Making a table does not look up the collations of its checks.
            if let failure = failure(
                compiling: "INSERT INTO \(SQLText.quoted(object.name)) DEFAULT VALUES", in: trial)
            {
                throw failure
            }
        case .index: break
        }
    }

    /// Why inserting, deleting and updating a trigger's table cannot be compiled; nil for each
    /// that can.
    private func failures(_ object: SchemaObject, in trial: Connection) -> [StoreError?] {
        guard object.kind == .trigger else { return [] }
        let table = SQLText.quoted(object.table)
        let update: StoreError? =
            switch updates(of: object.table, in: trial) {
            case .success(let sql): failure(compiling: sql, in: trial)
            case .failure(let error): error
            }
        let others: [SQLText] = ["INSERT INTO \(table) DEFAULT VALUES", "DELETE FROM \(table)"]
        return others.map { failure(compiling: $0, in: trial) } + [update]
    }

    private func failure(compiling sql: SQLText, in trial: Connection) -> StoreError? {
        do throws(StoreError) {
            _ = try trial.prepare("EXPLAIN \(sql)")
            return nil
        } catch {
            return error
        }
    }

    /// Whether the columns that an `UPDATE OF` trigger watches are there: SQLite takes any name
    /// and would never run it.
    private func hasWatchedColumns(
        _ object: SchemaObject, in trial: Connection
    ) throws(StoreError) -> Bool {
        let words = (object.sql ?? "").replacing(",", with: " , ").uppercased()
            .split(whereSeparator: \.isWhitespace).map(String.init)
        guard let update = words.firstIndex(of: "UPDATE"), update + 1 < words.count,
            words[update + 1] == "OF", words[..<update].allSatisfy({ $0 != "BEGIN" }),
            let end = words[update...].firstIndex(of: "ON")
        else { return true }
        let watched = words[(update + 2)..<end].split(separator: ",").map { name in
            name.joined(separator: " ").trimmingPrefix { "\"`['".contains($0) }
                .filter { !"\"`]'".contains($0) }
        }
        var names: Set<String> = []
        let info = try columns(of: object.table, in: trial)
        while try info.step() { names.insert((info.text(0) ?? "").uppercased()) }
        return watched.allSatisfy { names.contains(String($0)) }
    }

    /// Names of a table's columns, and whether each is hidden or generated.
    private func columns(
        of table: String, in trial: Connection
    ) throws(StoreError) -> Statement {
        let info = try trial.prepare("SELECT name, hidden FROM pragma_table_xinfo(?1)")
        try info.bind(table, at: 1)
        return info
    }

    /// A statement that sets every column, so that triggers of any column belong to it.
    private func updates(
        of table: String, in trial: Connection
    ) -> Result<SQLText, StoreError> {
        do throws(StoreError) {
            var sets: [SQLText] = []
            let info = try columns(of: table, in: trial)
            while try info.step() {
                guard info.integer(1) == 0 else { continue }
                let name = SQLText.quoted(info.text(0) ?? "")
                sets.append("\(name) = \(name)")
            }
            guard !sets.isEmpty else {
                return .failure(
                    .notAStore(path: trial.path, reason: "\(table) has no column to update"))
            }
            return .success("UPDATE \(.quoted(table)) SET \(sets.joined(separator: ", "))")
        } catch {
            return .failure(error)
        }
    }
}
