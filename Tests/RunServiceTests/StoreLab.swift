import CommandSupport
import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import Godwit
import ManagedObjectModel
import MigrationEngine
import MigrationPlans
import RunReports
import RunService
import StateFolders
import StoreForge
import StoreRuns
import TestSupport
import Testing

@testable import GodwitCommands

/// A folder with a forged store, a place for the result, and one for the run's own files.
struct StoreLab {
    let folder: URL
    /// Name of the store's file.
    var name = "store.sqlite"

    var originals: URL { folder.appendingPathComponent("in") }
    var results: URL { folder.appendingPathComponent("out") }
    var state: URL { folder.appendingPathComponent("state") }
    var store: URL { originals.appendingPathComponent(name) }
    var output: URL { results.appendingPathComponent(name) }

    /// Runs a body with a laboratory in a fresh folder.
    static func run(
        name: String = "store.sqlite", _ body: (StoreLab) throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            let lab = StoreLab(folder: folder, name: name)
            for part in [lab.originals, lab.results] {
                try FileManager.default.createDirectory(
                    at: part, withIntermediateDirectories: true)
            }
            try body(lab)
        }
    }

    /// A small note-taking store of version 1 with files of external data.
    static func recipe(notes: Int = 60, seed: UInt64 = 1) throws -> ForgeRecipe {
        var recipe = try ForgeRecipe.notes(notes: notes, seed: seed)
        recipe.bytesByAttribute = [PropertyKey("Attachment", "content"): 0...3000]
        recipe.externalThreshold = 2000
        return recipe
    }

    func forge(_ recipe: ForgeRecipe) throws { _ = try Forge(recipe).write(to: path(store)) }

    func path(_ url: URL) throws -> FilePath { try #require(FilePath(url)) }

    /// A connection without any of the product's precautions.
    func raw<Result>(
        _ url: URL? = nil, _ body: (Database) throws -> Result
    ) throws -> Result {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: (url ?? store).path, configuration: configuration)
        let result = try queue.inDatabase(body)
        try queue.close()
        return result
    }

    /// Runs statements on the store's file.
    func damage(_ sql: String) throws { try raw { try $0.execute(sql: sql) } }

    /// Replaces bytes of a file of the store.
    func patch(_ suffix: String = "", at offset: Int, _ bytes: [UInt8]) throws {
        let url = originals.appendingPathComponent(name + suffix)
        var data = try Data(contentsOf: url)
        data.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
        try data.write(to: url)
    }

    /// Every file below the originals with its bytes; what is no file counts by its kind.
    func snapshot() throws -> [String: Data] {
        var found: [String: Data] = [:]
        let walk = FileManager.default.enumerator(atPath: originals.path)
        while let name = walk?.nextObject() as? String {
            let url = originals.appendingPathComponent(name)
            let kind = try FileManager.default.attributesOfItem(atPath: url.path)[.type]
            found[name] =
                kind as? FileAttributeType == .typeRegular
                ? try Data(contentsOf: url) : Data("\(String(describing: kind))".utf8)
        }
        return found
    }

    func request(
        to choice: DestinationChoice, options: PlanOptions = PlanOptions(), from: Model? = nil
    ) throws -> MigrationRequest {
        MigrationRequest(
            store: try path(store), output: try path(output), state: try path(state),
            destination: choice, sourceModel: from, options: options)
    }

    /// Migrates to version 2 of the notes, or as asked.
    @discardableResult func migrate(
        to choice: DestinationChoice? = nil, options: PlanOptions = PlanOptions(),
        from: Model? = nil, policies: [any MigrationPolicy.Type] = [],
        observe: @escaping @Sendable (RunStep) -> Void = { _ in }
    ) throws -> MigrationOutcome {
        let standard = DestinationChoice.model(
            try DestinationModel(model: ForgeModels.notes(version: 2)))
        let library = PolicyLibrary(policies.map { $0.entry })
        var options = options
        options.policies = library.declarations
        let request = try request(to: choice ?? standard, options: options, from: from)
        return try EngineMigration(
            request, clock: { 0 }, policies: library, observe: observe
        ).run()
    }
}

extension StoreLab {
    /// What a refusal said.
    struct Refused {
        let text: String
        let status: CommandStatus
    }

    /// Expects that nothing is migrated, written or changed, and that the error tells what to do.
    @discardableResult func expectRefusal(
        to choice: DestinationChoice? = nil, options: PlanOptions = PlanOptions(),
        from: Model? = nil, namesStore: Bool = true, saying words: [String] = [],
        observe: @escaping @Sendable (RunStep) -> Void = { _ in },
        _ location: SourceLocation = #_sourceLocation
    ) throws -> Refused? {
        let before = try snapshot()
        var refused: Refused?
        do {
            _ = try migrate(to: choice, options: options, from: from, observe: observe)
            Issue.record("it was migrated", sourceLocation: location)
        } catch let error as RunError {
            refused = Refused(text: error.description, status: CommandStatus(error))
        }
        guard let refused else { return nil }
        if namesStore {
            let shown = try path(store).lastComponent.description
            #expect(refused.text.contains(shown), sourceLocation: location)
        }
        for word in words {
            #expect(refused.text.contains(word), "\(refused.text)", sourceLocation: location)
        }
        #expect(refused.status != .bug, "\(refused.text)", sourceLocation: location)
        #expect(!refused.text.contains("bug in Godwit"), sourceLocation: location)
        try expectNothingLeft(location)
        #expect(try snapshot() == before, "the original changed", sourceLocation: location)
        return refused
    }

    /// Expects no result, and in the state folder nothing but the ledger.
    func expectNothingLeft(_ location: SourceLocation = #_sourceLocation) throws {
        let manager = FileManager.default
        let results = try manager.contentsOfDirectory(atPath: results.path)
        #expect(results.isEmpty, "\(results)", sourceLocation: location)
        guard manager.fileExists(atPath: state.path) else { return }
        let kept = try DurableFileSystem().tree(at: path(state)).filter(\.status.isRegularFile)
            .map(\.path.lastComponent.description)
        #expect(
            Set(kept).isSubset(of: ["godwit.lock", "ledger.sqlite"]), "\(kept)",
            sourceLocation: location)
    }
}
