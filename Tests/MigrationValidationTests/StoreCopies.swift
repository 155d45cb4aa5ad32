import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import MappingInference
import MappingModel
import SafeSQLite
import StoreFileChecks
import Testing

@testable import MigrationValidation
import ValidationScans

/// A store and a copy of it, validated against each other under the identity mapping.
struct StoreCopies {
    let source: SourceStore
    let destination: FilePath
    let validator: Validator

    /// Pairs a store at rest with a file of the same model, a byte copy where none is given.
    init(
        of source: SourceStore, in folder: URL, as destination: FilePath? = nil,
        dangling: DanglingPolicy = .keep
    ) throws {
        self.source = source
        let copy = FilePath(folder.appendingPathComponent("copy.sqlite").path)
        if destination == nil { _ = try DurableFileSystem().clone(from: source.database, to: copy) }
        self.destination = destination ?? copy
        let scope = ValidationScope(
            source: source.layout, destination: source.layout,
            mapping: .identity(source.model), highestKeys: try Self.highestKeys(source),
            dangling: dangling)
        validator = Validator(
            scope: scope,
            files: ValidationFiles(
                source: source.database, sourceExternalData: source.externalData,
                destination: self.destination, destinationExternalData: source.externalData))
    }

    /// The larger of `Z_MAX` and the highest key of each table.
    static func highestKeys(_ store: SourceStore) throws -> [String: Int64] {
        let connection = try store.connect()
        var result: [String: Int64] = [:]
        for table in store.layout.tables {
            let number = Int64(store.layout.number(of: table.rootEntity) ?? 0)
            let highest = try connection.integer(
                "SELECT max(Z_PK) FROM \(SQLText.quoted(table.name))")
            result[table.name] = max(
                highest ?? 0, store.primaryKeys.row(number: number)?.maximum ?? 0)
        }
        return result
    }

    /// Opens the store at a place, with a fresh folder below `folder` for its snapshot.
    static func open(_ url: URL, in folder: URL) throws -> SourceStore {
        let scratch = folder.appendingPathComponent("scratch-\(url.lastPathComponent)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        return try StoreOpener().open(
            StoreLocation(FilePath(url.path)), scratch: FilePath(scratch.path))
    }
}
