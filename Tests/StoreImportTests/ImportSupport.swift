import CoreDataStore
import DurableFiles
import Foundation
import ManagedObjectModel
import SafeSQLite
import TestSupport
import Testing

@testable import StoreImport

/// A folder with parts and the store that they go into.
struct ImportCase {
    let folder: URL
    let model: Model

    var parts: URL { folder.appendingPathComponent("parts") }
    var store: URL { folder.appendingPathComponent("Library.sqlite") }

    init(_ folder: URL, model: Model? = nil) throws {
        self.folder = folder
        self.model = try model ?? LibraryModel.make()
        try FileManager.default.createDirectory(at: parts, withIntermediateDirectories: true)
    }

    /// Writes lines as a part.
    func write(_ lines: [String], part: Int) throws {
        let text = lines.map { $0 + "\n" }.joined()
        try Data(text.utf8).write(to: parts.appendingPathComponent("part-\(part).jsonl"))
    }

    @discardableResult
    func run(
        batch: Int = 10_000, keys: [String: String] = [:], removes: Bool = false,
        givesModel: Bool = true
    ) throws -> ImportReport {
        let scratch = folder.appendingPathComponent("scratch")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        var options = ImportOptions()
        options.batchObjects = batch
        options.keys = keys
        options.removesParts = removes
        let files = DurableFileSystem(links: .followed)
        let place = try files.resolve(FilePath(folder.path))
        return try StoreImport(
            into: place.appending("Library.sqlite"),
            destination: givesModel ? DestinationModel(model: model) : nil, options: options,
            identifier: "5A3C5B1E-0000-4000-8000-000000000001"
        ).run(try PartFolder(place.appending("parts")), scratch: place.appending("scratch"))
    }

    /// The store, read as Core Data reads it.
    func opened() throws -> SourceStore {
        let scratch = folder.appendingPathComponent("read")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        return try StoreOpener().open(
            StoreLocation(FilePath(store.path)), scratch: FilePath(scratch.path))
    }

    /// The first column of a query's rows.
    func texts(_ sql: SQLText) throws -> [String] {
        let connection = try opened().connect()
        defer { do { try connection.close() } catch { Issue.record(error) } }
        return try connection.texts(sql)
    }
}

extension ReferenceLine {
    private static let keyNames = [
        "Author": "name", "Book": "isbn", "Copy": "id", "Locker": "number", "Person": "email",
        "Staff": "email", "Tag": "name", "Note": "text",
    ]

    /// The line as a part has it.
    var json: String {
        var attributes = ["\"\(Self.keyNames[entity] ?? "")\": \"\(key)\""]
        if let extra, entity == "Book" { attributes.append("\"price\": \(extra)") }
        if let extra, entity == "Person" || entity == "Staff" {
            attributes.append("\"age\": \(extra)")
        }
        let links = links.sorted { $0.key < $1.key }.map { name, keys -> String in
            let isToOne = Self.toOnes.contains("\(entity).\(name)")
            let list = keys.map { "\"\($0)\"" }.joined(separator: ", ")
            return "\"\(name)\": " + (isToOne ? (keys.isEmpty ? "null" : list) : "[\(list)]")
        }
        return "{\"entity\": \"\(entity)\", \"attributes\": {\(attributes.joined(separator: ", "))}"
            + ", \"relationships\": {\(links.joined(separator: ", "))}}"
    }

    private static let toOnes: Set<String> = [
        "Book.author", "Book.sequel", "Book.prequel", "Copy.book", "Copy.holder", "Locker.owner",
        "Person.locker", "Staff.locker", "Staff.boss",
    ]
}
