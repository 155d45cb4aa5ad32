import DurableFiles
import Foundation
import ManagedObjectModel
import ModelFiles
import SafeSQLite
import TestSupport
import Testing

@testable import CoreDataStore

/// The layout that a model implies, against the files that Apple's Core Data wrote.
@Suite struct SchemaFixtureTests {
    /// Opens every fixture store with a model of its own, one after the other.
    private func forEachStore(_ body: (SourceStore, String) throws -> Void) throws -> Int {
        var withoutModel = 0
        for url in try FixtureStores.all() {
            try withTemporaryFolder { folder in
                let scratch = try #require(FilePath(folder))
                let path = try #require(FilePath(url))
                let store: SourceStore
                do throws(StoreError) {
                    store = try StoreOpener().open(StoreLocation(path), scratch: scratch)
                } catch {
                    guard case .modelMissing = error else { throw error }
                    withoutModel += 1
                    return
                }
                try body(store, url.lastPathComponent)
            }
        }
        return withoutModel
    }

    @Test(.enabled(if: Fixtures.available, Fixtures.absence))
    func layoutsFromCachedModels() throws {
        var result = LayoutComparison()
        let withoutModel = try forEachStore { store, name in
            result.compare(store, store.layout, name: name)
        }
        #expect(withoutModel == 2)
        #expect(result["stores"] == "74 of 74")
        #expect(result["table sets"] == "74 of 74")
        #expect(result["tables"] == "668 of 668")
        #expect(result["column types"] == "668 of 668")
        #expect(result["join tables"] == "420 of 420")
        #expect(result["indexes"] == "3133 of 3133")
        #expect(result["triggers"] == "18 of 18")
        #expect(result["DDL"] == "622 of 622")
        // A rename in place left the old name.
        #expect(result["Z_PRIMARYKEY"] == "969 of 970")
        #expect(result.exceptions == ["Z_PRIMARYKEY: SampleModel_V2.sqlite LuxuryCar"])
    }

    /// The same from the XML models, which know nothing of the stores.
    @Test(.enabled(if: Fixtures.available, Fixtures.absence))
    func layoutsFromXMLModels() throws {
        let models = try Fixtures.files {
            $0.path.contains("wireapp-wire-ios-data-model") && $0.lastPathComponent == "contents"
                && $0.deletingLastPathComponent().pathExtension == "xcdatamodel"
        }.map { try XMLModelReader.read($0.deletingLastPathComponent()) }
        let byHashes = Dictionary(
            models.map { (VersionHashes($0).entities, $0) }, uniquingKeysWith: { first, _ in first }
        )
        var result = LayoutComparison()
        var untold: [String: Set<String>] = [:]
        _ = try forEachStore { store, name in
            guard name.hasSuffix(".wiredatabase"),
                let model = byHashes[store.metadata.versionHashes]
            else { return }
            let layout = try StoreLayout(model: model, framework: store.metadata.framework)
            result.compare(store, layout, name: name)
            let derived = Set(layout.indexes.map(\.name))
            let missing = Set(store.layout.indexes.map(\.name)).subtracting(derived)
            if !missing.isEmpty { untold[name] = missing }
        }
        #expect(result["stores"] == "38 of 38")
        #expect(result["table sets"] == "38 of 38")
        #expect(result["tables"] == "446 of 446")
        #expect(result["column types"] == "446 of 446")
        #expect(result["join tables"] == "352 of 352")
        #expect(result["indexes"] == "1712 of 1712")
        #expect(result["Z_PRIMARYKEY"] == "674 of 674")
        #expect(result["DDL"] == "433 of 433")
        #expect(result.exceptions.isEmpty)
        // One version's archive repeats two indexes for six sub-entities, which XML does not say.
        #expect(untold.keys.sorted() == ["store2-52-0.wiredatabase"])
        let repeated = untold["store2-52-0.wiredatabase"] ?? []
        #expect(repeated.count == 12)
        #expect(
            repeated.allSatisfy {
                $0.hasSuffix("_destructionDate") || $0.hasSuffix("_expirationDate")
            }, "\(repeated.sorted())")
    }
}
