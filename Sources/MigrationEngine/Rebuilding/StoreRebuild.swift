package import CoreDataStore
package import DurableFiles
import Jobs
package import MigrationPlans
import ModelFiles
import PageWriting
import SafeSQLite

/// Builds the destination of a store from its source's pages.
///
/// What it makes is what `StoreAssembler` makes with statements: the same rows under the same
/// rowids, and fuller pages. Where any row is out of its reach, statements do the whole store, and
/// have the words for what is wrong with it. R-trees, triggers and partial indexes are made by
/// statements in any case, when all rows are there.
package struct StoreRebuild {
    private let file: LaidOutPlan
    private let source: SourceStore
    private let files: DurableFileSystem
    private let tables: [RebuildProgram.TableRows]
    private let threads: Int

    /// Memory that the entries of a table's indexes take, in bytes.
    private static let budget = 8 << 20
    /// The largest source, in bytes, that is held in memory with its result.
    private static let memoryLimit: Int64 = 4 << 20

    /// Looks at what a plan asks for; nil where statements are needed for rows.
    ///
    /// - Parameters:
    ///   - file: the plan.
    ///   - source: the store that it is about.
    ///   - threads: that make rows of large tables.
    ///   - files: opens and makes files.
    package init?(
        _ file: LaidOutPlan, source: SourceStore, threads: Int = 1, files: DurableFileSystem
    ) {
        let plan = file.plan
        let keepsHistory = plan.options.history == .keep && source.hasHistory
        guard plan.links.isEmpty, plan.linkChunks.isEmpty, plan.routes.isEmpty,
            plan.policies.isEmpty, plan.splits.isEmpty, plan.recordedRows.isEmpty, !keepsHistory,
            !plan.extras.contains(where: \.isKept),
            let tables = RebuildProgram(file, source: source).tables()
        else { return nil }
        self.file = file
        self.source = source
        self.files = files
        self.tables = tables
        self.threads = threads
    }

    /// Builds the file.
    ///
    /// - Parameters:
    ///   - path: of the file, which must not exist.
    ///   - destination: the model to name in metadata and model cache.
    ///   - scratch: a folder for entries that are sorted; a file there loses its name at once.
    /// - Returns: false where a statement is needed after all; then there is no file.
    /// - Throws: `EngineError` where files cannot be read or written, and when the work is
    ///   cancelled.
    package func run(
        to path: FilePath, _ destination: DestinationModel, scratch: FilePath
    ) throws(EngineError) -> Bool {
        let blank = try EngineError.translating { () throws(StoreError) in
            try file.cache.stores.blank(of: file.destination, .full)
        }
        let isInMemory = source.bytes <= Self.memoryLimit
        do throws(EngineError) {
            if isInMemory {
                let image = try PageImage(
                    blank.bytes, room: Int(source.bytes), named: path)
                guard try fill(image, blank, destination, scratch) else { return false }
                try make(path, image.bytes)
                try writeRest(path)
                return true
            }
            try make(path, blank.bytes)
            if try fill(try PageImage(path, files), blank, destination, scratch) {
                try writeRest(path)
                return true
            }
        } catch {
            switch error {
            // The source grew: what that means is told by the one who knows how it was.
            case .file(.overLimit): break
            case .file, .store(.cancelled): throw error
            case .store where error.cause == .noSpace || error.cause == .inputOutput: throw error
            case .store(.notAStore):
                // Statements would make as much of the same pages as these say.
                try EngineError.translating { try StoreOpener.checkPages(of: source) }
            // What is wrong with the store is for statements to say.
            default: break
            }
        }
        try EngineError.translating { try files.removeScratchTree(path) }
        return false
    }

    private func make(_ path: FilePath, _ bytes: [UInt8]) throws(EngineError) {
        try EngineError.translating {
            let made = try files.create(path)
            try made.write(bytes)
            try made.close()
        }
    }

    private func make(_ path: FilePath, _ bytes: UnsafeRawBufferPointer) throws(EngineError) {
        try EngineError.translating {
            let made = try files.create(path)
            try made.write(bytes)
            try made.close()
        }
    }

    private func fill(
        _ image: PageImage, _ blank: BlankStore, _ destination: DestinationModel,
        _ scratch: FilePath
    ) throws(EngineError) -> Bool {
        let read = try readable()
        let pages = PageAppender(image)
        var copied = CopiedRows(plan: file.plan)
        for part in tables {
            guard let table = try rebuild(part.table, blank, pages, scratch) else { return false }
            for (chunk, rows) in part.chunks {
                guard let count = try table.copy(rows, from: read) else { return false }
                copied.add(chunk, rows: count)
            }
            guard try table.finish() else { return false }
        }
        try copied.check(store: source.path.description)
        guard try writeSystemTables(blank, pages, destination, scratch) else { return false }
        try pages.finish()
        try writeHeader(image)
        return true
    }

    /// The source's pages.
    private func readable() throws(EngineError) -> PageImage {
        guard source.bytes <= Self.memoryLimit else {
            return try PageImage(reading: source.database, files)
        }
        return try PageImage(contentOf: source.database, limit: Int(Self.memoryLimit), files)
    }

    /// An empty table to be filled; nil where pages cannot be written for it, or a second time.
    private func rebuild(
        _ name: String, _ blank: BlankStore, _ pages: PageAppender, _ scratch: FilePath
    ) throws(EngineError) -> TableRebuild? {
        guard let table = blank.tables[name], table.indexes.allSatisfy(\.isPlain) else {
            return nil
        }
        return try TableRebuild(
            pages, root: UInt32(clamping: table.rootPage),
            indexes: table.indexes.map {
                TableRebuild.Index(
                    root: UInt32(clamping: $0.rootPage), columns: $0.columns,
                    descending: $0.descending, isUnique: $0.isUnique)
            },
            TableRebuild.Settings(
                budget: Self.budget, threads: threads, scratch: scratch.appending("rebuild-run"),
                files: files))
    }

    // MARK: - What is no row of the model

    /// Fills the same tables as `StoreBuilder.writeSystemTables`.
    private func writeSystemTables(
        _ blank: BlankStore, _ pages: PageAppender, _ destination: DestinationModel,
        _ scratch: FilePath
    ) throws(EngineError) -> Bool {
        let layout = file.destination
        guard let keys = try rebuild("Z_PRIMARYKEY", blank, pages, scratch),
            let told = try rebuild("Z_METADATA", blank, pages, scratch)
        else { return false }
        for (number, name) in zip(Int64(1)..., layout.entityOrder) {
            let row: [RecordProgram.Constant] = [
                .null, .text(Array(name.utf8)),
                .integer(Int64(layout.parentNumber(of: name))),
                .integer(file.plan.maxima[name] ?? 0),
            ]
            guard try keys.add(row, rowid: number) else { return false }
        }
        let metadata = source.metadata.migrated(
            hashes: destination.hashes, identifiers: destination.identifiers,
            framework: file.plan.framework)
        let row: [RecordProgram.Constant] = [
            .null, .text(Array(metadata.uuid.utf8)),
            .blob(BinaryPropertyList.write(metadata.properties)),
        ]
        guard try told.add(row, rowid: 1), try keys.finish(), try told.finish() else {
            return false
        }
        guard layout.framework.hasModelCache else { return true }
        guard let cache = try rebuild("Z_MODELCACHE", blank, pages, scratch),
            try cache.add([.blob(destination.modelCache)], rowid: 1)
        else { return false }
        return try cache.finish()
    }

    private var partialIndexes: [IndexLayout] {
        file.destination.indexes.filter { $0.condition != nil }
    }

    private var needsStatements: Bool {
        !file.destination.rTrees.isEmpty || !file.destination.triggers.isEmpty
            || !partialIndexes.isEmpty
    }

    /// Makes by statements what is not made page by page.
    private func writeRest(_ path: FilePath) throws(EngineError) {
        guard needsStatements else { return }
        let builder = try EngineError.translating {
            try StoreBuilder(creating: path, layout: file.destination)
        }
        let indexes = IndexBuilder(
            connection: builder.connection, store: source.path.description)
        for index in partialIndexes { try indexes.build(index) }
        try EngineError.translating {
            try builder.createRTreesAndTriggers()
            try builder.finish(isWriteAheadLogged: source.header.isWriteAheadLogged)
        }
    }

    /// Sets what the header says for the app (SQLite file format §1.3).
    private func writeHeader(_ image: PageImage) throws(EngineError) {
        // A connection that writes on switches it at the end.
        let format: UInt8 = source.header.isWriteAheadLogged && !needsStatements ? 2 : 1
        try image.write(header: [format, format], at: 18)
        for (number, place) in [
            (source.header.userVersion, 60), (source.header.applicationID, 68),
        ] {
            try image.write(
                header: withUnsafeBytes(of: number.bigEndian) { Array($0) }, at: place)
        }
    }
}
