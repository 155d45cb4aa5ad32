import CoreDataStore
import DurableFiles
import Foundation
import ManagedObjectModel
import MappingInference
import MappingModel
import MigrationPlans
import MigrationValidation
import RunService
import StateFolders
import StoreForge
import StoreRuns
import TestSupport

/// A migration that is sound as long as no mutation spoils it.
struct MutationCase: Sendable {
    let name: String
    let request: MigrationRequest
    let plan: MigrationPlan
    /// The layout of the result.
    let layout: StoreLayout
    let freeOrders: Set<FreeOrder>
    /// What the result holds.
    let content: ResultContent

    /// The sound result, published.
    var result: FilePath { request.result }
    var hasExternalData: Bool {
        FileManager.default.fileExists(atPath: StoreLocation(result).support.description)
    }

    /// Why a migration cannot serve as one that is spoiled.
    struct Unfit: Error {
        let reason: String
    }

    /// Migrates the store of a request, and checks the result against a reference that works
    /// object by object.
    ///
    /// - Throws: `Unfit` where the store refers to what is not there: faults may hide behind
    ///   those.
    init(name: String, _ request: MigrationRequest, _ inference: Inference, from: Model) throws {
        self.name = name
        self.request = request
        let outcome = try EngineMigration(request, clock: { 0 }).run()
        plan = outcome.plan
        guard plan.strategy == .partitioned else { throw Unfit(reason: "nothing is cut") }
        layout = try StoreLayout(model: plan.destinationModel, framework: plan.framework)
        freeOrders = plan.freeOrders(layout)
        content = try ResultContent(request.result, layout: layout, freeOrders: freeOrders)
        let before = try PlainStore(request.store, model: from)
        guard before.isWhole, outcome.validation.inherited.isEmpty else {
            throw Unfit(reason: "links to nothing")
        }
        let after = try PlainStore(request.result, model: plan.destinationModel)
        let expected = PlainMigration(
            before, to: plan.destinationModel, mapping: inference.mapping, keepsBroken: true)
        let differences = PlainComparison(expected, after).differences
        guard differences.isEmpty else { throw Unfit(reason: "\(differences)") }
    }

    /// Forges and migrates the store of a recipe.
    private init(
        _ name: String, _ recipe: ForgeRecipe, to model: Model, _ partition: PartitionMode,
        chunkBytes: Int64 = 2048, in folder: FilePath
    ) throws {
        let folder = folder.appending(name)
        let files = DurableFileSystem()
        try files.makeFolders(folder)
        let store = folder.appending("Original.sqlite")
        _ = try Forge(recipe).write(to: store)
        let inference = try Inference(from: recipe.model, to: model)
        try DataTrimming(path: store, model: recipe.model).trim(for: inference.requirements)
        let options = PlanOptions(
            strategy: .partitioned, partition: partition, chunkBytes: chunkBytes)
        let request = MigrationRequest(
            store: store, output: folder.appending("Result.sqlite"),
            state: folder.appending("state"),
            destination: .model(try DestinationModel(model: model)), options: options, slots: 1)
        try self.init(name: name, request, inference, from: recipe.model)
    }

    /// Whether a path lies where nothing was published.
    static func isFree(_ path: FilePath) throws -> Bool { try FileStatus.ifPresent(path) == nil }
}

// MARK: - The migrations

extension MutationCase {
    /// Migrations of two apps, of a library, and of random models, in a folder.
    static func all(in folder: FilePath) throws -> [MutationCase] {
        try presets(in: folder) + random(4, in: folder)
    }

    private static func presets(in folder: FilePath) throws -> [MutationCase] {
        var cut = try StoreLab.recipe(notes: 120)
        cut.externalThreshold = nil
        cut.bytesByAttribute = [PropertyKey("Attachment", "content"): 0...300]
        let routed = try StoreLab.recipe(notes: 40, seed: 2)
        let shop = try ForgeRecipe.shop(orders: 60)
        var library = ForgeRecipe(model: try MutationModels.first(), seed: 5)
        library.defaultRows = 60
        library.linkShare = 0.7
        library.deletedShare = 0.2
        let notes = try ForgeModels.notes(version: 3)
        return try [
            MutationCase("notes by keys", cut, to: notes, .key, in: folder),
            MutationCase(
                "notes by UUIDs", routed, to: notes, .uuid([PropertyKey("Note", "identifier")]),
                in: folder),
            MutationCase(
                "shop by keys", shop, to: ForgeModels.shop(version: 3), .key, in: folder),
            MutationCase(
                "shop by entities", shop, to: ForgeModels.shop(version: 2), .entity, in: folder),
            MutationCase(
                "library", library, to: MutationModels.second(), .key, chunkBytes: 1500,
                in: folder),
        ]
    }

    /// Random models to random next versions with links that are looked up.
    private static func random(_ count: Int, in folder: FilePath) throws -> [MutationCase] {
        var found: [MutationCase] = []
        var seed: UInt64 = 1
        while found.count < count, seed < 200 {
            defer { seed += 1 }
            let place = folder.appending("random-\(seed)")
            try DurableFileSystem().makeFolders(place)
            do {
                let drawn = try RandomCase(seed: seed, attempt: 0)
                let prepared = try drawn.prepare(in: place)
                var request = prepared.request
                request.slots = 1
                let one = try MutationCase(
                    name: "random \(seed)", request, prepared.inference, from: drawn.source)
                if !one.plan.linkChunks.isEmpty { found.append(one) }
            } catch is Unfit {
                continue
            } catch is InferenceError {
                continue
            } catch is ModelError {
                continue
            } catch let error as RunError {
                guard case .plan = error else { throw error }
            }
        }
        return found
    }
}
