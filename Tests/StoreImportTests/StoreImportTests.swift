import CoreDataStore
import Foundation
import ManagedObjectModel
import SafeSQLite
import TestSupport
import Testing

@testable import StoreImport

/// What an import leaves in a store.
@Suite("Import")
struct StoreImportTests {
    @Test("random parts give what a reference in memory gives", arguments: 1...40)
    func randomParts(seed: UInt64) throws {
        var generator = LineGenerator(seed: seed)
        let lines = generator.lines(60)
        try withTemporaryFolder { folder in
            let library = try ImportCase(folder)
            let size = [7, 20, 1000][Int(seed) % 3]
            for (number, start) in stride(from: 0, to: lines.count, by: size).enumerated() {
                try library.write(
                    lines[start..<min(start + size, lines.count)].map(\.json), part: number + 1)
            }
            var reference = ImportReference(library.model)
            for line in lines { reference.add(line) }
            reference.end()
            let report = try library.run(batch: [1, 3, 1000][Int(seed / 3) % 3])
            #expect(report.counts.inserted == reference.objects.count)
            #expect(report.counts.inserted + report.counts.updated == lines.count)
            let store = try library.opened()
            #expect(store.oddities.isEmpty)
            #expect(store.extras.isEmpty)
            let found = try StoreReading(store).objects()
            let wanted = StoreReading.sorted(reference.objects, library.model)
            for (name, object) in wanted where found[name] != object {
                Issue.record("\(name): \(String(describing: found[name])), not \(object)")
            }
            #expect(found.count == wanted.count)
        }
    }

    @Test("a second run over the same parts changes nothing")
    func secondRun() throws {
        try withTemporaryFolder { folder in
            let library = try ImportCase(folder)
            var generator = LineGenerator(seed: 5)
            try library.write(generator.lines(20).map(\.json), part: 1)
            try library.run()
            let before = try StoreReading(library.opened()).objects()
            let again = try library.run(givesModel: false)
            #expect(again.finishedBefore == 1)
            #expect(again.counts == ImportCounts())
            #expect(try StoreReading(library.opened()).objects() == before)
        }
    }

    @Test("a part that comes later is imported, whatever its number")
    func lateParts() throws {
        try withTemporaryFolder { folder in
            let library = try ImportCase(folder)
            try library.write([tag("red")], part: 5)
            try library.run()
            try library.write([tag("green")], part: 3)
            try library.write([tag("blue")], part: 12)
            let report = try library.run()
            #expect(report.finishedBefore == 1)
            #expect(report.counts.inserted == 2)
            #expect(
                try library.texts("SELECT ZNAME FROM ZTAG ORDER BY Z_PK")
                    == ["red", "green", "blue"])
        }
    }

    @Test("finished parts are removed where that is asked for")
    func removal() throws {
        try withTemporaryFolder { folder in
            let library = try ImportCase(folder)
            try library.write([tag("red")], part: 1)
            try library.write([tag("green"), "{"], part: 2)
            #expect(throws: ImportError.self) { try library.run(removes: true) }
            #expect(try names(library) == ["part-2.jsonl"])
            try library.write([tag("green")], part: 2)
            try library.run(removes: true)
            #expect(try names(library).isEmpty)
            #expect(try library.run(removes: true).parts == 0)
            #expect(try library.texts("SELECT ZNAME FROM ZTAG ORDER BY Z_PK") == ["red", "green"])
        }
    }

    private func names(_ library: ImportCase) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: library.parts.path).sorted()
    }

    @Test("a default value is no key")
    func defaultKey() throws {
        let model = try Model(entities: [
            Entity(
                name: "Item",
                attributes: [
                    Attribute(
                        name: "id", type: .integer64, isOptional: false, defaultValue: .integer(0)),
                    Attribute(name: "text", type: .string),
                ], uniquenessConstraints: [["id"]])
        ])
        try withTemporaryFolder { folder in
            let items = try ImportCase(folder, model: model)
            try items.write(
                [#"{"entity": "Item", "attributes": {"text": "a"}}"#], part: 1)
            let error = #expect(throws: ImportError.self) { try items.run() }
            #expect(error?.description.contains("no value for Item.id") == true)
        }
    }

    @Test("a waiting link that a later line replaces is counted")
    func replacedLink() throws {
        try withTemporaryFolder { folder in
            let library = try ImportCase(folder)
            let author = { (name: String, books: String) in
                #"{"entity": "Author", "attributes": {"name": "\#(name)"}, "#
                    + #""relationships": {"books": [\#(books)]}}"#
            }
            let book = #"{"entity": "Book", "attributes": {"isbn": 1}, "relationships": "#
            try library.write(
                [book + #"{"author": "late"}}"#, author("a", "1"), author("late", "")], part: 1)
            let report = try library.run()
            #expect(report.counts.links == 1)
            #expect(report.counts.droppedLinks == 1)
            let names: SQLText =
                "SELECT ZNAME FROM ZAUTHOR WHERE Z_PK = (SELECT ZAUTHOR FROM ZBOOK)"
            #expect(try library.texts(names) == ["a"])
        }
    }

    @Test("values of every type arrive as Core Data stores them")
    func values() throws {
        try withTemporaryFolder { folder in
            let library = try ImportCase(folder, model: try everyType())
            try library.write(
                [
                    #"{"entity": "All", "attributes": {"i16": -5, "i64": "9007199254740993","#
                        + #" "dec": "12.50", "dbl": 0.25, "flag": true, "day":"#
                        + #" "2001-01-02T00:00:00Z", "text": "ü", "uuid":"#
                        + #" "00112233-4455-6677-8899-aabbccddeeff", "uri": "https://a/b","#
                        + #" "data": "AAEC", "photo": "AAEC"}}"#,
                    #"{"entity": "All", "attributes": {"day": 1.5, "flag": 0, "text": null, "#
                        + #""dbl": 0.10000000000000001}}"#,
                ], part: 1)
            try library.run()
            let row: SQLText =
                "SELECT ZI16 || ' ' || ZI64 || ' ' || ZDEC || ' ' || ZDBL || ' ' || ZFLAG || ' ' "
                + "|| ZDAY || ' ' || ZTEXT || ' ' || hex(ZUUID) || ' ' || ZURI || ' ' "
                + "|| hex(ZDATA) || ' ' || hex(ZPHOTO) FROM ZALL WHERE Z_PK = 1"
            #expect(
                try library.texts(row) == [
                    "-5 9007199254740993 12.5 0.25 1 86400 ü 00112233445566778899AABBCCDDEEFF "
                        + "https://a/b 000102 01000102"
                ])
            #expect(
                try library.texts(
                    "SELECT ZDAY || ' ' || ZFLAG || ' ' || coalesce(ZTEXT, 'none') || ' ' || ZI16 "
                        + "|| ' ' || ZDBL "
                        + "FROM ZALL WHERE Z_PK = 2") == ["1.5 0 none 42 0.1"])
        }
    }

    private func everyType() throws -> Model {
        let types: [(String, AttributeType)] = [
            ("i64", .integer64), ("dec", .decimal), ("dbl", .double), ("flag", .boolean),
            ("day", .date), ("text", .string), ("uuid", .uuid), ("uri", .uri), ("data", .binary),
        ]
        var attributes = types.map { Attribute(name: $0.0, type: $0.1) }
        attributes.append(
            Attribute(
                name: "i16", type: .integer16, isOptional: false, defaultValue: .integer(42)))
        attributes.append(
            Attribute(name: "photo", type: .binary, allowsExternalBinaryDataStorage: true))
        return try Model(entities: [Entity(name: "All", attributes: attributes)])
    }

    private func tag(_ name: String) -> String {
        #"{"entity": "Tag", "attributes": {"name": "\#(name)"}}"#
    }
}
