import CoreDataStore
import DurableFiles
import Foundation
import ManagedObjectModel
import SafeSQLite
import StoreForge
import TestSupport
import Testing

@testable import StoreImport

/// What an import does with parts and stores that it cannot use.
@Suite("Import: faults")
struct ImportFaultTests {
    /// Lines that are no object of the library, with a part of the message.
    static let lines: [(line: String, words: String)] = [
        ("{", "not valid JSON"),
        (
            "{\"entity\": \"Note\", \"attributes\": {\"text\": \"x\"}}\u{0}{\"entity\": \"Tag\"}",
            "U+0000"
        ),
        (#"{"entity": "a value of a user, by mistake"}"#, "no entity of that name"),
        ("[]", "not an object of the documented form"),
        (#"{"attributes": {}}"#, "it names no entity"),
        (#"{"entity": "Tag", "entity": "Tag"}"#, "not an object of the documented form"),
        (#"{"entity": "Tag", "attributes": {"name": "a", "name": "b"}}"#, "it has name twice"),
        (#"{"entity": "Note", "attributes": {"text": "a\u0000"}}"#, "U+0000"),
        (
            #"{"entity": "Book", "attributes": {"isbn": 1, "price": 0.1234567890123456789}}"#,
            "Book.price"
        ),
        (#"{"entity": "Book", "attributes": {"isbn": 18446744073709551616}}"#, "Book.isbn"),
        (
            #"{"entity": "Copy", "attributes": {"id": "00000000-0000-0000-0000-000000000001"}, "#
                + #""relationships": {"book": ["1"]}}"#, "Copy.book must be one key or null"
        ),
        (#"{"entity": "Tags"}"#, "the model has no entity Tags; did you mean Tag?"),
        (
            #"{"entity": "Tag", "attribute": {}}"#,
            "only entity, attributes and relationships; did you mean attributes?"
        ),
        (#"{"entity": "Tag", "attributes": {"nam": "x"}}"#, "no stored attribute nam"),
        (#"{"entity": "Tag"}"#, "Tag.name is required and has no value"),
        (#"{"entity": "Tag", "attributes": {"name": null}}"#, "Tag.name is required"),
        (#"{"entity": "Tag", "attributes": {"name": [1]}}"#, "not an object"),
        (#"{"entity": "Book", "attributes": {"isbn": 1.5}}"#, "Book.isbn"),
        (#"{"entity": "Person", "attributes": {"email": "z", "age": 70000}}"#, "Person.age"),
        (#"{"entity": "Book", "attributes": {"isbn": 1, "cover": "?"}}"#, "Base64"),
        (
            #"{"entity": "Tag", "attributes": {"name": "z"}, "relationships": {"book": []}}"#,
            "no stored relationship book; did you mean books?"
        ),
        (
            #"{"entity": "Tag", "attributes": {"name": "z"}, "relationships": {"books": [null]}}"#,
            "Tag.books has null instead of a key"
        ),
        (
            #"{"entity": "Staff", "attributes": {"email": "a@x"}}"#,
            "an object of another entity has the same key"
        ),
    ]

    @Test("a bad line is named, and nothing of its batch is kept", arguments: 0..<lines.count)
    func badLine(number: Int) throws {
        let (line, words) = Self.lines[number]
        try withTemporaryFolder { folder in
            let library = try ImportCase(folder)
            let person = #"{"entity": "Person", "attributes": {"email": "a@x"}}"#
            let good = (0..<5).map { #"{"entity": "Note", "attributes": {"text": "\#($0)"}}"# }
            let lines = [person] + good[0..<3] + ["", line] + good[3...]
            try library.write(lines, part: 1)
            let error = #expect(throws: ImportError.self) { try library.run(batch: 2) }
            let text = error?.description ?? ""
            #expect(text.contains("part-1.jsonl line 6: "), "\(text)")
            #expect(text.contains(words), "\(text)")
            #expect(text.contains("Nothing from line 5 on was imported"), "\(text)")
            #expect(try library.texts("SELECT ZTEXT FROM ZNOTE ORDER BY 1") == ["0", "1", "2"])
            // Repaired, it resumes there.
            try library.write([person] + good[0..<3] + [""] + good[3...], part: 1)
            let report = try library.run(batch: 2)
            #expect(report.counts.inserted == 2)
            #expect(
                try library.texts("SELECT ZTEXT FROM ZNOTE ORDER BY 1")
                    == ["0", "1", "2", "3", "4"])
        }
    }

    @Test("no value of a line is in a message")
    func values() throws {
        for line in [
            #"{"entity": "Tag", "attributes": {"name": "s3cret"}, "relationships": 1}"#,
            #"{"entity": "Book", "attributes": {"isbn": "s3cret"}}"#,
            #"{"entity": "Copy", "attributes": {"id": "s3cret"}}"#,
            #"{"entity": "Tag", "attributes": {"name": "s3cret""#,
        ] {
            try withTemporaryFolder { folder in
                let library = try ImportCase(folder)
                try library.write([line], part: 1)
                let error = #expect(throws: ImportError.self) { try library.run() }
                #expect(error?.description.contains("s3cret") == false)
            }
        }
    }

    @Test("a part that changed behind its mark is refused")
    func changedPart() throws {
        try withTemporaryFolder { folder in
            let library = try ImportCase(folder)
            try library.write([note("a"), note("b"), "{"], part: 1)
            #expect(throws: ImportError.self) { try library.run(batch: 2) }
            try library.write([note("a"), note("c"), note("d")], part: 1)
            let error = #expect(throws: ImportError.self) { try library.run() }
            guard case .changedPart(_, line: 2) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            try FileManager.default.removeItem(
                at: library.parts.appendingPathComponent("part-1.jsonl"))
            try library.write([note("e")], part: 2)
            let missing = #expect(throws: ImportError.self) { try library.run() }
            #expect(missing?.description.contains("part 1 is missing") == true)
            #expect(try library.texts("SELECT ZTEXT FROM ZNOTE ORDER BY 1") == ["a", "b"])
        }
    }

    @Test("parts need numbers, each its own")
    func numbers() throws {
        #expect(PartFolder.number(in: "a1-0042.jsonl") == 42)
        #expect(PartFolder.number(in: "7 of 9b.jsonl") == 9)
        #expect(PartFolder.number(in: "part.jsonl") == nil)
        try withTemporaryFolder { folder in
            let library = try ImportCase(folder)
            #expect(throws: ImportError.self) { try library.run() }
            #expect(!FileManager.default.fileExists(atPath: library.store.path))
            for (name, words) in [("a.jsonl", "no number"), ("b-1.jsonl", "the same number")] {
                try library.write([note("a")], part: 1)
                let file = library.parts.appendingPathComponent(name)
                try Data().write(to: file)
                let error = #expect(throws: ImportError.self) { try library.run() }
                #expect(error?.description.contains(words) == true)
                try FileManager.default.removeItem(at: file)
            }
        }
    }

    @Test("links that lead nowhere are counted, and wait for another part")
    func unresolved() throws {
        try withTemporaryFolder { folder in
            let library = try ImportCase(folder)
            let book = #"{"entity": "Book", "attributes": {"isbn": 1}, "relationships": "#
            try library.write(
                [
                    note("a"),
                    book + #"{"author": "Someone", "tags": ["late", "red"]}}"#,
                    #"{"entity": "Tag", "attributes": {"name": "red"}}"#,
                ], part: 1)
            let error = #expect(throws: ImportError.self) { try library.run() }
            guard case .unresolved(_, count: 2, let first) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(first == "Book.author in part 1, line 2")
            try library.write(
                [
                    #"{"entity": "Author", "attributes": {"name": "Someone"}}"#,
                    #"{"entity": "Tag", "attributes": {"name": "late"}}"#,
                ], part: 2)
            try library.run()
            let found = try StoreReading(library.opened()).objects()
            #expect(found["Book/1"]?.links["tags"] == ["Tag/late", "Tag/red"])
            #expect(found["Book/1"]?.links["author"] == ["Author/Someone"])
            #expect(try library.opened().extras.isEmpty)
        }
    }

    @Test("a required relationship must lead somewhere at the end")
    func incomplete() throws {
        let model = try Model(entities: [
            Entity(
                name: "Page", attributes: [Attribute(name: "number", type: .integer32)],
                relationships: [
                    Relationship(
                        name: "chapter", destination: "Chapter", inverse: "pages",
                        isOptional: false)
                ], uniquenessConstraints: [["number"]]),
            Entity(
                name: "Chapter", attributes: [Attribute(name: "title", type: .string)],
                relationships: [
                    Relationship(
                        name: "pages", destination: "Page", inverse: "chapter", isOptional: false,
                        minimumCount: 2, maximumCount: 0)
                ]),
        ])
        try withTemporaryFolder { folder in
            let book = try ImportCase(folder, model: model)
            let page = { (number: Int) in
                #"{"entity": "Page", "attributes": {"number": \#(number)}}"#
            }
            let chapter = { (title: String, pages: String) in
                #"{"entity": "Chapter", "attributes": {"title": "\#(title)"}, "#
                    + #""relationships": {"pages": [\#(pages)]}}"#
            }
            try book.write([page(1), page(2), page(3), chapter("a", "1")], part: 1)
            let keys = ["Chapter": "title"]
            let error = #expect(throws: ImportError.self) { try book.run(keys: keys) }
            guard case .incomplete(_, let faults) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(
                faults == [
                    "1 objects of Chapter have no pages, which must lead to at least 2",
                    "2 objects of Page have no chapter, which must lead to one",
                ])
            try book.write([chapter("a", "2, 3")], part: 2)
            let report = try book.run(keys: keys)
            #expect(report.counts.updated == 1)
            #expect(try book.opened().extras.isEmpty)
        }
    }

    @Test("links that wait keep the keys that they were read with")
    func keysOfWaitingLinks() throws {
        try withTemporaryFolder { folder in
            let library = try ImportCase(folder)
            let copy = #"{"entity": "Copy", "attributes": {"id": "\#(UUID().uuidString)"}, "#
            try library.write([copy + #""relationships": {"book": "b1"}}"#], part: 1)
            let keys = ["Book": "title"]
            #expect(throws: ImportError.self) { try library.run(keys: keys) }
            let error = #expect(throws: ImportError.self) { try library.run() }
            guard case .otherKeys(_, keys) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            try library.write(
                [#"{"entity": "Book", "attributes": {"isbn": 1, "title": "b1"}}"#], part: 2)
            // A further key changes nothing for them.
            try library.run(keys: keys.merging(["Note": "text"]) { first, _ in first })
            #expect(try library.texts("SELECT ZBOOK FROM ZCOPY") == ["1"])
        }
    }

    @Test("a number that was imported cannot come with other contents")
    func reusedNumber() throws {
        try withTemporaryFolder { folder in
            let library = try ImportCase(folder)
            try library.write([note("a")], part: 1)
            try library.run()
            try library.write([note("b")], part: 1)
            let error = #expect(throws: ImportError.self) { try library.run(removes: true) }
            guard case .otherPart(_, number: 1) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: library.parts.path)
            #expect(left == ["part-1.jsonl"])
        }
    }

    @Test("a part that is imported in part is resumed before one with a lower number")
    func lowerNumber() throws {
        try withTemporaryFolder { folder in
            let library = try ImportCase(folder)
            let plain = (0..<4).map { #"{"entity": "Person", "attributes": {"email": "\#($0)"}}"# }
            try library.write([plain[0], plain[1], plain[2], "{"], part: 2)
            let keys = ["Person": "age"]
            #expect(throws: ImportError.self) { try library.run(batch: 2, keys: keys) }
            try library.write([note("a")], part: 1)
            #expect(throws: ImportError.self) { try library.run(batch: 2, keys: keys) }
            try library.write(plain, part: 2)
            try library.run(batch: 2, keys: keys)
            #expect(
                try library.texts("SELECT ZEMAIL FROM ZPERSON ORDER BY Z_PK")
                    == ["0", "1", "2", "3"])
            #expect(try library.texts("SELECT ZTEXT FROM ZNOTE") == ["a"])
        }
    }

    @Test("a log without its store keeps a new store from being made")
    func staleLog() throws {
        try withTemporaryFolder { folder in
            let library = try ImportCase(folder)
            try library.write([note("a")], part: 1)
            let log = URL(fileURLWithPath: library.store.path + "-wal")
            try Data("old".utf8).write(to: log)
            let error = #expect(throws: ImportError.self) { try library.run() }
            #expect(error?.description.contains("belongs to a store that is gone") == true)
            #expect(try Data(contentsOf: log) == Data("old".utf8))
        }
    }

    @Test("a link that waited is let go with its source")
    func sourceThatIsGone() throws {
        try withTemporaryFolder { folder in
            let library = try ImportCase(folder)
            try library.write(
                [
                    #"{"entity": "Author", "attributes": {"name": "a"}, "#
                        + #""relationships": {"books": [1]}}"#
                ], part: 1)
            #expect(throws: ImportError.self) { try library.run() }
            let connection = try Connection(
                path: FilePath(library.store.path), mode: .readWrite)
            try connection.execute("DELETE FROM ZAUTHOR")
            try connection.close()
            try library.write([#"{"entity": "Book", "attributes": {"isbn": 1}}"#], part: 2)
            try library.run()
            #expect(try library.texts("SELECT ZISBN FROM ZBOOK WHERE ZAUTHOR IS NULL") == ["1"])
        }
    }

    private func note(_ text: String) -> String {
        #"{"entity": "Note", "attributes": {"text": "\#(text)"}}"#
    }
}
