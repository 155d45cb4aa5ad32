import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import ManagedObjectModel
import MigrationPlans
import MigrationValidation
import RunService
import SafeSQLite
import StateFolders
import StoreForge
import StoreRuns
import Synchronization
import Testing

/// Stores that are whole and yet unlike most: all of them are migrated.
@Suite struct OddFileTests {
    /// Copies the store's files in the middle of a transaction that has spilled to the disk.
    private func interrupt(_ lab: StoreLab, mode: String) throws -> [String] {
        var names: [String] = []
        try lab.raw { database in
            try database.execute(
                sql: "PRAGMA journal_mode = \(mode); PRAGMA cache_size = 2; "
                    + "PRAGMA cache_spill = 1; BEGIN; "
                    + "UPDATE ZNOTE SET ZTITLE = 'never committed', Z_OPT = 99; "
                    + "INSERT INTO ZTAG (Z_ENT, Z_OPT, ZNAME) SELECT 4, 1, hex(randomblob(300)) "
                    + "FROM ZNOTE a, ZNOTE b LIMIT 500")
            let copies = lab.folder.appendingPathComponent("copies")
            try FileManager.default.createDirectory(
                at: copies, withIntermediateDirectories: false)
            names = try FileManager.default.contentsOfDirectory(atPath: lab.originals.path)
            for name in names where !name.hasSuffix("-shm") {
                try FileManager.default.copyItem(
                    at: lab.originals.appendingPathComponent(name),
                    to: copies.appendingPathComponent(name))
            }
            try database.execute(sql: "ROLLBACK")
        }
        try FileManager.default.removeItem(at: lab.originals)
        try FileManager.default.moveItem(
            at: lab.folder.appendingPathComponent("copies"), to: lab.originals)
        return names
    }

    /// A log that was cut has lost what its last transaction wrote: SQLite says nothing of it.
    @Test(arguments: [1, 4000, 4096 + 24, 4096 + 24 + 1])
    func aLogThatWasCutIsReported(bytes: Int) throws {
        try StoreLab.run { lab in
            var recipe = try StoreLab.recipe(notes: 400)
            recipe.journal = .writeAheadLogWithContent
            try lab.forge(recipe)
            let log = lab.originals.appendingPathComponent(lab.name + "-wal")
            let whole = try Data(contentsOf: log)
            try #require(whole.count > 2 * (4096 + 24))
            try whole.dropLast(bytes).write(to: log)
            let outcome = try lab.migrate()
            #expect(outcome.oddities.contains { $0.contains("unfinished transaction") })
        }
    }

    /// What is no frame of a sound log says nothing.
    @Test func bytesBehindALogAreNotReported() throws {
        try StoreLab.run { lab in
            var recipe = try StoreLab.recipe(notes: 40)
            recipe.journal = .writeAheadLogWithContent
            try lab.forge(recipe)
            let log = lab.originals.appendingPathComponent(lab.name + "-wal")
            try (try Data(contentsOf: log) + Data(repeating: 7, count: 100)).write(to: log)
            let outcome = try lab.migrate()
            #expect(!outcome.oddities.contains { $0.contains("unfinished transaction") })
        }
    }

    @Test(arguments: [ForgeRecipe.Journal.rollback, .writeAheadLog])
    func interruptedTransactionsAreRolledBackOnACopy(journal: ForgeRecipe.Journal) throws {
        try StoreLab.run { lab in
            var recipe = try StoreLab.recipe(notes: 400)
            recipe.journal = journal
            try lab.forge(recipe)
            let titles = try self.titles(lab.store, column: "ZTITLE")
            let names = try interrupt(lab, mode: journal == .rollback ? "DELETE" : "WAL")
            let suffix = journal == .rollback ? "-journal" : "-wal"
            #expect(names.contains(lab.name + suffix))
            let before = try lab.snapshot()
            let main = try #require(before[lab.name])
            let beside = try #require(before[lab.name + suffix])
            // The files are as they should be for the test: half of the change is on the disk.
            #expect((journal == .rollback ? main : beside).range(of: Data("never".utf8)) != nil)
            let outcome = try lab.migrate()
            #expect(outcome.validation.isEqual)
            #expect(try lab.snapshot() == before)
            #expect(try self.titles(lab.output, column: "ZTITLE") == titles)
            let tags = try lab.raw(lab.output) {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM ZTAG")
            }
            #expect(tags == 41)
            try lab.expectHeader(isWriteAheadLogged: journal != .rollback)
        }
    }

    private func titles(_ url: URL, column: String) throws -> [String?] {
        let queue = try DatabaseQueue(path: url.path)
        let found = try queue.inDatabase {
            try String?.fetchAll($0, sql: "SELECT \(column) FROM ZNOTE ORDER BY Z_PK")
        }
        try queue.close()
        return found
    }

    @Test func smallPagesAndRollbackJournals() throws {
        for (pageSize, journal, strategy) in [
            (2048, ForgeRecipe.Journal.rollback, Strategy.whole),
            (2048, .writeAheadLog, .partitioned), (1024, .rollback, .partitioned),
            (65536, .writeAheadLog, .whole), (8192, .rollback, .whole),
            (4096, .writeAheadLogWithContent, .partitioned),
        ] {
            try StoreLab.run { lab in
                var recipe = try StoreLab.recipe()
                recipe.pageSize = pageSize
                recipe.journal = journal
                try lab.forge(recipe)
                let before = try lab.snapshot()
                let outcome = try lab.migrate(
                    options: PlanOptions(strategy: strategy, chunkBytes: 8192))
                #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
                #expect(try lab.snapshot() == before)
                try lab.expectHeader(isWriteAheadLogged: journal != .rollback)
                let odd = outcome.oddities.joined(separator: "\n")
                #expect(odd.contains("pages of \(pageSize)") == (pageSize != 4096))
                #expect(odd.contains("rollback journal") == (journal == .rollback))
            }
        }
    }

    @Test func modelsFromOutside() throws {
        for framework in [519, 640, 977, 1522] {
            try StoreLab.run { lab in
                var recipe = try StoreLab.recipe()
                recipe.framework = FrameworkVersion(framework)
                try lab.forge(recipe)
                try lab.damage("DROP TABLE IF EXISTS Z_MODELCACHE")
                try lab.expectRefusal(saying: ["give the model that wrote it"])
                let outcome = try lab.migrate(from: ForgeModels.notes(version: 1))
                #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
            }
        }
    }

    @Test func logsInFoldersThatCannotBeWritten() throws {
        try StoreLab.run { lab in
            var recipe = try StoreLab.recipe()
            recipe.journal = .writeAheadLogWithContent
            try lab.forge(recipe)
            let before = try lab.snapshot()
            #expect(before[lab.name + "-wal"] != nil)
            let manager = FileManager.default
            try manager.setAttributes(
                [.posixPermissions: 0o555], ofItemAtPath: lab.originals.path)
            let outcome = try lab.migrate()
            try manager.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: lab.originals.path)
            #expect(outcome.validation.isEqual)
            // Rights do not stop a user who may do anything: there must be no new file either.
            #expect(try lab.snapshot() == before)
        }
    }

    @Test func storesThatChangeMeanwhile() throws {
        for step in [RunStep.copy, .validate, .publish] {
            try StoreLab.run { lab in
                try lab.forge(try StoreLab.recipe())
                let isDone = Mutex(false)
                do {
                    _ = try lab.migrate { begun in
                        guard begun == step,
                            isDone.withLock({ isDone in
                                defer { isDone = true }
                                return !isDone
                            })
                        else { return }
                        do {
                            // In place and in the unused end of the header, with all else equal.
                            let handle = try FileHandle(forWritingTo: lab.store)
                            try handle.seek(toOffset: 72)
                            try handle.write(contentsOf: Data([0]))
                            try handle.close()
                        } catch {
                            Issue.record(error)
                        }
                    }
                    Issue.record("it was migrated")
                } catch let error as RunError {
                    #expect(error.description.contains("changed"))
                }
                try lab.expectNothingLeft()
            }
        }
    }

    /// The path was resolved when the store was found: a link has come since.
    @Test func storesBehindASymbolicLink() throws {
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe())
            let link = lab.folder.appendingPathComponent("link.sqlite")
            try FileManager.default.createSymbolicLink(
                atPath: link.path, withDestinationPath: "in/store.sqlite")
            var request = try lab.request(to: .itself)
            request.store = try lab.path(link)
            let error = #expect(throws: RunError.self) {
                try EngineMigration(request, clock: { 0 }).run()
            }
            #expect(error?.description.contains("symbolic link") == true)
            #expect(!FileManager.default.fileExists(atPath: lab.output.path))
        }
    }

    static let names: [[UInt8]] = [
        Array("with spaces.sqlite".utf8), Array("quotes '\" and `.sqlite".utf8),
        Array("question?mode=rw.sqlite".utf8), Array("hash#1.sqlite".utf8),
        Array("100%25.sqlite".utf8), Array("new\nline.sqlite".utf8), Array("Ünïcödé 測試".utf8),
        Array(".hidden".utf8), Array("-dash.sqlite".utf8), Array("back\\slash".utf8),
        [0x66, 0xFF, 0xFE, 0x80, 0x2E, 0x64, 0x62],
        Array(repeating: UInt8(ascii: "n"), count: 255),
        Array(repeating: 0xE9, count: 255),
    ]

    @Test(arguments: names) func unusualNames(_ name: [UInt8]) throws {
        try StoreLab.run { lab in
            var recipe = try StoreLab.recipe(notes: 20)
            recipe.externalThreshold = name.count > 200 ? nil : 2000
            try lab.forge(recipe)
            let folder = try lab.path(lab.originals)
            let store = folder.appending(FilePath(bytes: name))
            let files = DurableFileSystem()
            try files.rename(lab.path(lab.store), to: store, existing: .refuse)
            if recipe.externalThreshold != nil {
                try files.rename(
                    StoreLocation(lab.path(lab.store)).support,
                    to: StoreLocation(store).support, existing: .refuse)
            }
            for strategy in [Strategy.whole, .partitioned] {
                let results = try lab.path(lab.results).appending(strategy.rawValue)
                try files.makeFolders(results)
                var request = try lab.request(
                    to: .itself, options: PlanOptions(strategy: strategy, chunkBytes: 8192))
                request.store = store
                request.output = results.appending(FilePath(bytes: name))
                request.state = try lab.path(lab.state).appending(FilePath(bytes: name))
                let outcome = try EngineMigration(request, clock: { 0 }).run()
                #expect(outcome.validation.isEqual)
                let status = try FileStatus(of: request.result)
                #expect(status.size == outcome.outputBytes)
                let kept = try files.names(in: results)
                #expect(kept.count == (recipe.externalThreshold == nil ? 1 : 2))
            }
        }
    }
}

extension StoreLab {
    /// Expects a result with the header that Core Data writes.
    func expectHeader(
        isWriteAheadLogged: Bool, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let bytes = Array(try Data(contentsOf: output).prefix(100))
        let header = try DatabaseHeader.read(bytes).get()
        #expect(header.pageSize == 4096, sourceLocation: location)
        #expect(header.isWriteAheadLogged == isWriteAheadLogged, sourceLocation: location)
        #expect(header.autoVacuum == 2, sourceLocation: location)
        #expect(header.textEncoding == 1, sourceLocation: location)
        let suffixes = ["-wal", "-shm", "-journal"]
        for suffix in suffixes {
            let beside = FileManager.default.fileExists(atPath: output.path + suffix)
            #expect(!beside, sourceLocation: location)
        }
    }

    /// Files of external data of the one store in a folder, by name.
    func externalFiles(_ folder: URL) throws -> [String: Data] {
        let external = folder.appendingPathComponent(".store_SUPPORT/_EXTERNAL_DATA")
        guard FileManager.default.fileExists(atPath: external.path) else { return [:] }
        var found: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: external.path) {
            found[name] = try Data(contentsOf: external.appendingPathComponent(name))
        }
        return found
    }
}
