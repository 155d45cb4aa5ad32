import CoreDataStore
package import DurableFiles
import ManagedObjectModel
import ModelFiles
import SafeSQLite

/// Writes stores by recipes.
///
/// Rows are computed, not kept: memory does not grow with their number. Nothing is synced: a
/// forged store can be forged again.
package struct Forge: Sendable {
    private let recipe: ForgeRecipe

    package init(_ recipe: ForgeRecipe) { self.recipe = recipe }

    /// Writes the store, and files of external data beside it.
    ///
    /// - Parameter path: of the database, in an existing folder; nothing may be there.
    /// - Returns: what was written.
    /// - Throws: `ForgeError`.
    /// - Complexity: O(rows · columns + links).
    package func write(to path: FilePath) throws(ForgeError) -> ForgeReceipt {
        if let fault = recipe.fault { throw .recipe(fault) }
        do {
            return try ForgeRun(recipe: recipe, path: path).write()
        } catch let error as ForgeError {
            throw error
        } catch let error as StoreError {
            throw .store(error)
        } catch let error as ModelError {
            throw .model(error)
        } catch let error as DurableFileError {
            throw .file(error)
        } catch {
            throw .recipe("\(error)")
        }
    }
}

/// One store in the making.
private struct ForgeRun {
    let recipe: ForgeRecipe
    let path: FilePath
    let layout: StoreLayout
    let plan: ForgePlan
    let destination: DestinationModel
    let values: ValueWriter
    let files = DurableFileSystem()

    init(recipe: ForgeRecipe, path: FilePath) throws {
        self.recipe = recipe
        self.path = path
        layout = try StoreLayout(model: recipe.model, framework: recipe.framework)
        plan = try ForgePlan(recipe: recipe, layout: layout)
        destination = try DestinationModel(model: recipe.model)
        values = ValueWriter(
            externalData: StoreLocation(path).externalData,
            externalThreshold: recipe.externalThreshold)
    }

    /// Rows of a table that go to the `-wal`.
    private func logged(_ table: ForgedTable) -> Int {
        recipe.journal == .writeAheadLogWithContent ? min(64, (table.count + 3) / 4) : 0
    }

    func write() throws -> ForgeReceipt {
        for file in StoreLocation(path).files where try FileStatus.ifPresent(file) != nil {
            throw ForgeError.exists(path: file.description)
        }
        let builder = try StoreBuilder(creating: path, layout: layout)
        // The page size of a file that has a page already changes with VACUUM alone.
        if recipe.pageSize != 4096 {
            try builder.connection.rebuild(pageSize: Int64(recipe.pageSize))
        }
        try builder.createTables()
        let joinRows = try writeRows(builder.connection)
        try writeRest(builder)
        switch recipe.journal {
        case .writeAheadLog: try builder.finish(isWriteAheadLogged: true)
        case .rollback: try builder.connection.close()
        case .writeAheadLogWithContent:
            try builder.finish(isWriteAheadLogged: true)
            try writeLog()
        }
        return try receipt(joinRows: joinRows)
    }

    private func writeRows(_ connection: Connection) throws -> Int {
        var joinRows = 0
        try connection.execute("BEGIN")
        for number in plan.tables.indices {
            let table = plan.tables[number]
            try writer(number).write(0..<(table.count - logged(table)), to: connection)
        }
        for join in layout.joinTables {
            joinRows += try JoinWriter(join, plan: plan)?.write(to: connection) ?? 0
        }
        try connection.execute("COMMIT")
        return joinRows
    }

    private func writer(_ table: Int) -> RowWriter {
        RowWriter(
            plan: plan.rowPlan(of: table), tables: plan.tables, values: values, seed: recipe.seed)
    }

    /// Everything but the rows of entities.
    private func writeRest(_ builder: StoreBuilder) throws {
        let connection = builder.connection
        let history = HistoryWriter(plan: plan)
        try connection.execute("BEGIN")
        for index in layout.indexes { try connection.create(index.definition) }
        try history.write(to: connection)
        if recipe.hasApplicationObjects {
            try ApplicationObjects.write(to: connection, layout: layout)
        }
        try connection.execute("COMMIT")
        let maxima = plan.tables.map { table in
            (table.layout.rootEntity, table.maximum(afterRows: table.count - logged(table)))
        }
        try builder.writeSystemTables(
            maxima: Dictionary(maxima, uniquingKeysWith: { first, _ in first }),
            reserved: history.primaryKeys, metadata: metadata,
            modelCache: destination.modelCache)
        try builder.createRTreesAndTriggers()
    }

    private var metadata: StoreMetadata {
        let identifier = ForgedUUID.text(ForgeHash.salt(recipe.seed, "Z_UUID"))
        return StoreMetadata(uuid: identifier, properties: .dictionary(recipe.metadata))
            .migrated(
                hashes: destination.hashes, identifiers: recipe.model.versionIdentifiers,
                framework: recipe.framework)
    }

    /// Writes the last rows of every table through a log, and leaves the log.
    private func writeLog() throws {
        let kept = path.adding(suffix: "-kept")
        _ = try files.clone(from: path, to: kept)
        let connection = try Connection(path: path, mode: .readWrite)
        try connection.configure("PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0")
        try connection.execute("BEGIN")
        for (number, table) in plan.tables.enumerated() {
            let first = table.count - logged(table)
            try writer(number).write(first..<table.count, to: connection)
            let maximum = table.maximum(afterRows: table.count)
            let root = layout.number(of: table.layout.rootEntity) ?? 0
            try connection.execute(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = \(maximum) WHERE Z_ENT = \(root)")
        }
        // Triggers do not run on our connections.
        for tree in layout.rTrees {
            try connection.execute("DELETE FROM \(.quoted(tree.name))")
            try connection.execute(tree.fillSQL)
        }
        try connection.execute("COMMIT")
        let log = try files.contents(of: logFile, limit: 1 << 30)
        try connection.close()
        // Without a row there is nothing to log.
        guard !log.isEmpty else { return try files.remove(kept) }
        let salts = ForgeHash.salt(recipe.seed, "log")
        guard let rewritten = LogRewriter.rewrite(log, salts: salts) else {
            throw ForgeError.log(path: path.description)
        }
        // Closing has put the log into the database: go back to the state before.
        try files.remove(path)
        _ = try files.clone(from: kept, to: path)
        try files.remove(kept)
        let file = try files.create(logFile)
        try file.write(rewritten)
        try file.close()
    }

    private var logFile: FilePath { StoreLocation(path).companion(.writeAheadLog) }

    private func receipt(joinRows: Int) throws -> ForgeReceipt {
        var receipt = ForgeReceipt()
        for part in plan.tables.flatMap(\.parts) where !part.slots.isEmpty {
            receipt.rows += part.slots.count
            receipt.rowsByEntity[part.entity] = part.slots.count
        }
        receipt.joinRows = joinRows
        for file in [path, logFile] {
            receipt.bytes += try FileStatus.ifPresent(file)?.size ?? 0
        }
        receipt.externalFiles = values.externalFiles
        receipt.externalBytes = values.externalBytes
        return receipt
    }
}
