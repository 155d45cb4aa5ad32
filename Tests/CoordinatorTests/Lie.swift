import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import Glibc
import Jobs
import TestSupport
import Testing

@testable import RunService

/// One way in which a worker lies about a small store.
enum Lie: String, CaseIterable, Sendable {
    // Its file.
    case flippedByte, notADatabase, otherStore, otherVersion, truncated, lengthened, logBeside
    case valueChanged, rowMissing, rowAdded, linkChanged
    case indexMissing, declarationChanged, objectAdded, systemRowChanged, headerChanged
    // What lies in the place of its files.
    case linkForFile, pipeForFile, folderForFile, secondFile
    // Its receipt and its report.
    case wrongDigest, wrongLength, wrongCounts, otherPlace, otherStoreNumber, unchanged
    case reportChanged
    // External data.
    case externalData

    /// Whether it needs a result that is published beside its original.
    var needsOutput: Bool { self == .externalData }

    func apply(
        to forged: inout ForgedDelivery, outside: FilePath, _ generator: inout SeededGenerator
    ) throws {
        switch self {
        case .flippedByte, .notADatabase, .otherStore, .otherVersion, .truncated, .lengthened,
            .logBeside:
            try changeFile(of: &forged, &generator)
        case .valueChanged, .rowMissing, .rowAdded, .linkChanged, .indexMissing,
            .declarationChanged, .objectAdded, .systemRowChanged, .headerChanged:
            try changeContent(of: &forged, &generator)
        case .linkForFile, .pipeForFile, .folderForFile, .secondFile:
            try changeKind(of: &forged, outside, &generator)
        case .wrongDigest, .wrongLength, .wrongCounts, .otherPlace, .otherStoreNumber, .unchanged:
            changeReceipt(of: &forged, &generator)
        case .reportChanged: try changeReport(of: &forged, &generator)
        case .externalData: try changeExternalData(of: &forged, outside, &generator)
        }
    }
}

// MARK: - The file

extension Lie {
    private func changeFile(
        of forged: inout ForgedDelivery, _ generator: inout SeededGenerator
    ) throws {
        var bytes = try forged.lab.files.contents(of: forged.result, limit: 1 << 30)
        switch self {
        case .flippedByte:
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            bytes[place] ^= UInt8.random(in: 1...255, using: &generator)
        case .notADatabase:
            let count = Int.random(in: 0...20_000, using: &generator)
            bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if Bool.random(using: &generator) {
                bytes = Array("SQLite format 3\0".utf8) + bytes
            }
        case .otherStore: bytes = try other(forged, seed: generator.next())
        case .otherVersion: bytes = try forged.lab.files.contents(of: forged.store, limit: 1 << 30)
        case .truncated:
            let pages = bytes.count / 4096
            let kept = Int.random(in: 0..<pages, using: &generator) * 4096
            bytes = Array(bytes[..<(kept + (Bool.random(using: &generator) ? 0 : 100))])
        case .lengthened:
            bytes += [UInt8](repeating: 0, count: Int.random(in: 1...9000, using: &generator))
        case .logBeside:
            let suffix = ["-wal", "-shm", "-journal"].randomElement(using: &generator) ?? ""
            try forged.lab.files.publish(
                [0x37, 0x7f, 0x06, 0x82], to: forged.result.adding(suffix: suffix))
            return
        default: throw Missing(description: "a change of the file")
        }
        try forged.write(bytes, to: forged.result)
        try forged.relabel()
    }

    /// The migrated result of another store of the same app.
    private func other(_ forged: ForgedDelivery, seed: UInt64) throws -> [UInt8] {
        let lab = forged.lab
        try lab.forge("other.sqlite", notes: 40, seed: seed)
        return try lab.ownResult(of: lab.path("other.sqlite"))
    }

    private func changeContent(
        of forged: inout ForgedDelivery, _ generator: inout SeededGenerator
    ) throws {
        func one(_ list: [String]) -> String { list.randomElement(using: &generator) ?? "" }
        switch self {
        case .valueChanged:
            let value = one(["NULL", "-7", "'x'", "x'00'", "1e300", "9223372036854775807"])
            let column = one(try columns(of: "ZNOTE", forged).filter { $0 != "Z_PK" })
            // A value that it has already would be no lie.
            try forged.edit(
                "UPDATE ZNOTE SET \(column) = \(value) WHERE Z_PK = (SELECT Z_PK FROM ZNOTE "
                    + "WHERE \(column) IS NOT \(value) LIMIT 1)")
        case .rowMissing: try forged.edit("DELETE FROM \(one(try tables(forged))) WHERE Z_PK = 1")
        case .rowAdded:
            try forged.edit(
                "CREATE TABLE t AS SELECT * FROM ZNOTE WHERE Z_PK = 1; UPDATE t SET Z_PK = 9999; "
                    + "INSERT INTO ZNOTE SELECT * FROM t; DROP TABLE t; "
                    + (Bool.random(using: &generator)
                        ? "UPDATE Z_PRIMARYKEY SET Z_MAX = 9999 WHERE Z_NAME = 'Note'" : ""))
        case .linkChanged:
            let (table, column) = try link(forged, &generator)
            try forged.edit(
                "UPDATE \(table) SET \(column) = \(column) + 100000 WHERE rowid = "
                    + "(SELECT rowid FROM \(table) WHERE \(column) IS NOT NULL LIMIT 1)")
        case .indexMissing:
            let names = try texts(
                forged, "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
            try forged.edit("DROP INDEX \(one(names))")
        case .declarationChanged: try changeDeclaration(of: forged, &generator)
        case .objectAdded:
            try forged.edit(
                one([
                    "CREATE TABLE mine (a)", "CREATE VIEW mine AS SELECT 1",
                    "CREATE INDEX mine ON ZNOTE (Z_OPT)",
                    "CREATE UNIQUE INDEX mine ON ZNOTE (Z_PK, Z_OPT)",
                    "CREATE TRIGGER mine AFTER INSERT ON ZNOTE BEGIN DELETE FROM ZNOTE; END",
                    "CREATE TRIGGER mine AFTER UPDATE ON Z_METADATA BEGIN SELECT 1; END",
                    "CREATE TABLE sqlite_mine_not (a)",
                    "ALTER TABLE ZNOTE ADD COLUMN ZMINE INTEGER DEFAULT 5",
                ]).replacingOccurrences(of: "sqlite_mine_not", with: "Z_99MINE"))
        case .systemRowChanged:
            try forged.edit(
                one([
                    "UPDATE Z_METADATA SET Z_UUID = '00000000-0000-0000-0000-000000000000'",
                    "UPDATE Z_METADATA SET Z_VERSION = 2",
                    "INSERT INTO Z_METADATA VALUES (2, 'x', x'00')",
                    "UPDATE Z_METADATA SET Z_PLIST = x'00'",
                    "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_ENT = 1",
                    "INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 5)",
                    "INSERT INTO Z_MODELCACHE SELECT * FROM Z_MODELCACHE",
                    "UPDATE Z_MODELCACHE SET Z_CONTENT = x'78'",
                    "DELETE FROM Z_MODELCACHE", "DELETE FROM Z_METADATA",
                ]))
        case .headerChanged:
            var bytes = try forged.lab.files.contents(of: forged.result, limit: 1 << 30)
            // The version of the user's data, and the application.
            let place = Bool.random(using: &generator) ? 63 : 71
            bytes[place] = UInt8.random(in: 1...255, using: &generator)
            try forged.write(bytes, to: forged.result)
        default: throw Missing(description: "a change of the content")
        }
        try forged.relabel()
    }

    /// Changes a word of a table's declaration to another one of the same length, where SQLite
    /// would not look.
    private func changeDeclaration(
        of forged: ForgedDelivery, _ generator: inout SeededGenerator
    ) throws {
        var bytes = try forged.lab.files.contents(of: forged.result, limit: 1 << 30)
        let changes = [
            ("Z_OPT INTEGER, Z", "Z_OPT NUMERIC, Z"), ("VARCHAR", "NUMERIC"),
            ("TIMESTAMP", "TIMESTMAP"), ("Z_UUID VARCHAR(255)", "Z_UUID VARCHAR(254)"),
        ]
        let start = Int.random(in: 0..<changes.count, using: &generator)
        for (word, other) in changes[start...] + changes[..<start] {
            guard let place = bytes.firstRange(of: Array(word.utf8)) else { continue }
            bytes.replaceSubrange(place, with: Array(other.utf8))
            return try forged.write(bytes, to: forged.result)
        }
        throw Missing(description: "a declaration")
    }

    private func texts(_ forged: ForgedDelivery, _ sql: String) throws -> [String] {
        try forged.texts(sql)
    }

    private func columns(of table: String, _ forged: ForgedDelivery) throws -> [String] {
        try texts(forged, "SELECT name FROM pragma_table_info('\(table)') ORDER BY cid")
    }

    /// Tables of entities that have rows.
    private func tables(_ forged: ForgedDelivery) throws -> [String] {
        try texts(
            forged,
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%Z_PK%' "
                + "ORDER BY name"
        ).filter { try !texts(forged, "SELECT 1 FROM \($0) WHERE Z_PK = 1").isEmpty }
    }

    /// A column that holds links: of a join table, or of a relationship to one object.
    private func link(
        _ forged: ForgedDelivery, _ generator: inout SeededGenerator
    ) throws -> (table: String, column: String) {
        let all = try texts(
            forged,
            "SELECT m.name || ' ' || c.name FROM sqlite_master m, pragma_table_info(m.name) c "
                + "WHERE m.type = 'table' AND (m.name GLOB 'Z_[0-9]*' OR c.name IN "
                + "('ZFOLDER', 'ZNOTE', 'ZPARENT')) ORDER BY 1")
        let used = try all.filter { pair in
            let words = pair.split(separator: " ")
            return try !texts(
                forged, "SELECT 1 FROM \(words[0]) WHERE \(words[1]) IS NOT NULL LIMIT 1"
            ).isEmpty
        }
        let chosen = try #require(used.randomElement(using: &generator)).split(separator: " ")
        return (String(chosen[0]), String(chosen[1]))
    }
}

// MARK: - Kinds of files

extension Lie {
    private func changeKind(
        of forged: inout ForgedDelivery, _ outside: FilePath, _ generator: inout SeededGenerator
    ) throws {
        let files = forged.lab.files
        let path = forged.result
        switch self {
        case .linkForFile:
            let honest = forged.lab.folder.appending("moved")
            try files.rename(path, to: honest, existing: .refuse)
            let target =
                Bool.random(using: &generator)
                ? honest.description : outside.appending("canary").description
            #expect(symlink(target, path.description) == 0)
        case .pipeForFile:
            try files.remove(path)
            #expect(mkfifo(path.description, 0o600) == 0)
        case .folderForFile:
            try files.remove(path)
            try files.makeFolder(path)
        case .secondFile:
            let names = ["second.sqlite", "store.sqlite-old", ".hidden", "work", "outcome.json"]
            let name = names.randomElement(using: &generator) ?? ""
            try files.publish([1], to: forged.folder.appending(FilePath(name)))
        default: throw Missing(description: "a kind of file")
        }
    }
}

// MARK: - The receipt

extension Lie {
    private func changeReceipt(
        of forged: inout ForgedDelivery, _ generator: inout SeededGenerator
    ) {
        let place = 0
        let told = forged.receipt.files[place]
        switch self {
        case .wrongDigest:
            let other = String(told.digest.reversed())
            let wrong = [String(repeating: "0", count: 64), "", told.digest.uppercased(), other]
            forged.changeFile(place, digest: wrong.randomElement(using: &generator))
        case .wrongLength:
            let wrong = [0, -1, told.bytes - 1, told.bytes + 1, Int64.max, Int64.min]
            forged.changeFile(place, bytes: wrong.randomElement(using: &generator))
        case .wrongCounts:
            switch Int.random(in: 0...3, using: &generator) {
            case 0: forged.change(rows: forged.receipt.rows + 1)
            case 1: forged.change(rows: -1)
            case 2: forged.change(sums: ["Note.title": ContentSum(count: 1)])
            default: forged.change(counts: [["rows", Receipt.unchanged][place]: 1])
            }
        case .otherPlace: changePlace(of: &forged, place, &generator)
        case .otherStoreNumber:
            if place == 0 {
                forged.change(store: [2, 3, -1, 1 << 40].randomElement(using: &generator))
            } else {
                forged.change(run: ["r2", "", "../r1"].randomElement(using: &generator))
            }
        case .unchanged:
            forged.change(files: [], rows: 0, counts: [Receipt.unchanged: Int64(place + 1)])
        default: break
        }
    }

    private func changePlace(
        of forged: inout ForgedDelivery, _ place: Int, _ generator: inout SeededGenerator
    ) {
        let path = forged.receipt.files[place].file.path
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        let folder = path.dropLast(name.count)
        let paths = [
            "outside/canary", "\\x2e\\x2e/outside/canary", "../outside/canary", "/etc/passwd",
            "\(folder)\\x2e\\x2e/\(name)", "\(folder)./\(name)", "\(folder)\\x00\(name)",
            "\(folder)\(String(repeating: "n", count: 300))", "\(folder)other", "", "\(folder)\\q",
            String(repeating: "a/", count: 3000) + "b", "data/a.sqlite",
        ]
        if Int.random(in: 0..<8, using: &generator) == 0 {
            forged.changeFile(place, root: "elsewhere")
        } else {
            forged.changeFile(place, path: paths.randomElement(using: &generator))
        }
    }

    private func changeReport(
        of forged: inout ForgedDelivery, _ generator: inout SeededGenerator
    ) throws {
        if Bool.random(using: &generator) {
            let names = ["microseconds.sleep", "microseconds.", "rows", "\u{1}", "unchanged"]
            forged.change(counts: [names.randomElement(using: &generator) ?? "": 1])
            return
        }
        // A report where none is wanted.
        let texts = ["", "{", "{}", "[]", "{\"result\":7}", "{\"seconds\":{}}", "null"]
        let bytes = Array((texts.randomElement(using: &generator) ?? "").utf8)
        try forged.write(bytes, to: forged.report)
        let told = forged.receipt.files[0]
        let report = DeliveredFile(
            file: FileReference(
                root: told.file.root,
                path: told.file.path.replacingOccurrences(
                    of: "store.sqlite", with: "outcome.json")),
            bytes: Int64(bytes.count), digest: ContentDigest.hexadecimal(of: bytes))
        forged.change(files: [told, report])
    }
}

// MARK: - External data

extension Lie {
    private func changeExternalData(
        of forged: inout ForgedDelivery, _ outside: FilePath, _ generator: inout SeededGenerator
    ) throws {
        let files = forged.lab.files
        let names = try files.names(in: forged.external)
        let file = forged.external.appending(try #require(names.randomElement(using: &generator)))
        switch Int.random(in: 0...7, using: &generator) {
        case 0: try files.remove(file)
        case 1:
            var bytes = try files.contents(of: file, limit: 1 << 24)
            bytes[bytes.count / 2] ^= 1
            try forged.write(bytes, to: file)
        case 2: try files.publish([1], to: forged.external.appending("surplus"))
        case 3:
            try files.publish(
                [1], to: forged.external.appending("00000000-0000-0000-0000-000000000000"))
        case 4:
            try files.remove(file)
            #expect(symlink(outside.appending("canary").description, file.description) == 0)
        case 5:
            try files.remove(file)
            #expect(mkfifo(file.description, 0o600) == 0)
        case 6: try files.publish([1], to: forged.external.parent.appending("beside"))
        default:
            let moved = forged.lab.folder.appending("moved")
            try files.rename(forged.external, to: moved, existing: .refuse)
            #expect(symlink(moved.description, forged.external.description) == 0)
        }
    }
}
