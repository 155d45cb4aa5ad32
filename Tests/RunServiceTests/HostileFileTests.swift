import DurableFiles
import Foundation
import Glibc
import StoreForge
import Testing

/// Files that are no database, or not a whole one.
@Suite struct HostileFileTests {
    @Test(arguments: Self.files) func badFilesAreRefused(_ damage: Damage) throws {
        try damage.check()
    }

    @Test(arguments: Self.logs) func badLogsAreRefused(_ damage: Damage) throws {
        try damage.check()
    }

    private static func replace(_ lab: StoreLab, _ bytes: Data) throws {
        try bytes.write(to: lab.store)
    }

    private static func cut(_ lab: StoreLab, to length: (Int) -> Int) throws {
        let data = try Data(contentsOf: lab.store)
        try replace(lab, data.prefix(length(data.count)))
    }

    static let files: [Damage] = [
        Damage("empty", "is empty") { try replace($0, Data()) },
        Damage("text", "not an SQLite database") {
            try replace($0, Data(String(repeating: "text ", count: 2000).utf8))
        },
        Damage("zeros", "not an SQLite database") { try replace($0, Data(count: 8192)) },
        Damage("shorter than a header", "shorter than a database header") {
            try cut($0) { _ in 99 }
        },
        Damage("header alone", "truncated") { try cut($0) { _ in 100 } },
        Damage("one page", "truncated") { try cut($0) { _ in 4096 } },
        Damage("half", "truncated") { try cut($0) { $0 / 8192 * 4096 } },
        Damage("without the last page", "truncated") { try cut($0) { $0 - 4096 } },
        Damage("without the last byte", "truncated") { try cut($0) { $0 - 1 } },
        Damage("page size 513", "page size") { try $0.patch(at: 16, [2, 1]) },
        Damage("page size 256", "page size") { try $0.patch(at: 16, [1, 0]) },
        Damage("page size 512") { try $0.patch(at: 16, [2, 0]) },
        Damage("page size 65536") { try $0.patch(at: 16, [0, 1]) },
        Damage("format version 3", "version is unknown") { try $0.patch(at: 18, [3, 3]) },
        Damage("reserved bytes", "reserved bytes") { try $0.patch(at: 20, [32]) },
        Damage("UTF-16", "UTF-16") { try $0.patch(at: 56, [0, 0, 0, 2]) },
        Damage("unknown encoding", "UTF-16") { try $0.patch(at: 56, [0, 0, 0, 7]) },
        Damage("payload fractions") { try $0.patch(at: 21, [63, 31, 31]) },
        Damage("schema format 9") { try $0.patch(at: 44, [0, 0, 0, 9]) },
        Damage("more pages than there are", "truncated") {
            try $0.patch(at: 28, [0x7F, 0xFF, 0xFF, 0xFF])
        },
        Damage("fewer pages than there are") { try $0.patch(at: 28, [0, 0, 0, 5]) },
        Damage("free list outside the file") {
            try $0.patch(at: 32, [0x7F, 0, 0, 0, 0, 0, 0, 9])
        },
        Damage("the schema's page is a leaf of garbage") {
            try $0.patch(at: 100, [UInt8](repeating: 0xA5, count: 3000))
        },
    ]

    static let logs: [Damage] = [
        Damage(
            "salts that do not fit", "salts", journal: .writeAheadLogWithContent
        ) { try $0.patch("-wal", at: 32 + 8, [1, 2, 3, 4]) },
        Damage(
            "log of another page size", "page size", journal: .writeAheadLogWithContent
        ) { try $0.patch("-wal", at: 8, [0, 0, 8, 0]) },
        Damage(
            "checksum of the log's header", "checksum", journal: .writeAheadLogWithContent
        ) { try $0.patch("-wal", at: 24, [1, 2, 3, 4]) },
        Damage("log of another version", "version", journal: .writeAheadLogWithContent) {
            try $0.patch("-wal", at: 4, [0, 0, 0, 1])
        },
        Damage("garbage for a log", "log header", journal: .writeAheadLogWithContent) {
            try $0.patch("-wal", at: 0, Array(repeating: 0x5A, count: 64))
        },
        Damage(
            "damage in a log's first page", "silently lose", journal: .writeAheadLogWithContent
        ) { try $0.patch("-wal", at: 32 + 24 + 200, [0xA5, 0x5A, 0xA5, 0x5A]) },
        Damage("half a log header", "shorter than its header") { lab in
            try Data(count: 20).write(to: lab.originals.appendingPathComponent("\(lab.name)-wal"))
        },
        Damage("both journals", "both", journal: .writeAheadLogWithContent) { lab in
            try Data(repeating: 7, count: 600)
                .write(to: lab.originals.appendingPathComponent("\(lab.name)-journal"))
        },
        Damage("super-journal", "several databases") { lab in
            let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
            let journal = Data(magic + [UInt8](repeating: 0, count: 1000) + magic)
            try journal.write(to: lab.originals.appendingPathComponent("\(lab.name)-journal"))
        },
    ]

    /// What SQLite would do with a journal that names a file: delete it.
    @Test func filesThatAJournalNamesAreNotTouched() throws {
        try StoreLab.run { lab in
            var recipe = try StoreLab.recipe()
            recipe.journal = .rollback
            try lab.forge(recipe)
            let victim = lab.folder.appendingPathComponent("precious")
            try Data("precious".utf8).write(to: victim)
            let name = Array(victim.path.utf8)
            let sum = name.reduce(UInt32(0)) { $0 &+ UInt32($1) }
            let word = { (number: UInt32) in
                (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(24 - 8 * $0)) }
            }
            let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
            let pages = UInt32(try Data(contentsOf: lab.store).count / 4096)
            var journal = magic + word(0) + word(1) + word(pages) + word(512) + word(4096)
            journal += [UInt8](repeating: 0, count: 512 - journal.count)
            journal += word(0) + name + word(UInt32(name.count)) + word(sum) + magic
            try Data(journal).write(
                to: lab.originals.appendingPathComponent("\(lab.name)-journal"))
            try lab.expectRefusal(saying: ["several databases"])
            #expect(try Data(contentsOf: victim) == Data("precious".utf8))
        }
    }

    @Test func whatIsNoFileIsRefused() throws {
        for kind in ["folder", "pipe", "missing", "pipe beside", "folder beside"] {
            try StoreLab.run { lab in
                if kind.hasSuffix("beside") {
                    try lab.forge(try StoreLab.recipe())
                    let log = lab.originals.appendingPathComponent("\(lab.name)-wal")
                    if kind.hasPrefix("pipe") {
                        #expect(mkfifo(log.path, 0o600) == 0)
                    } else {
                        try FileManager.default.createDirectory(
                            at: log, withIntermediateDirectories: false)
                    }
                } else if kind == "pipe" {
                    #expect(mkfifo(lab.store.path, 0o600) == 0)
                } else if kind == "folder" {
                    try FileManager.default.createDirectory(
                        at: lab.store, withIntermediateDirectories: false)
                }
                try lab.expectRefusal()
            }
        }
    }
}
