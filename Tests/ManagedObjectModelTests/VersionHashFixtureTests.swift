import Foundation
import GRDB
import ModelFiles
import TestSupport
import Testing

@testable import ManagedObjectModel

/// XML models against the stores and compiled models that Apple's tools made from them.
@Suite(.enabled(if: Fixtures.available, Fixtures.absence))
struct VersionHashFixtureTests {
    private static func isModel(_ file: URL) -> Bool {
        file.lastPathComponent == "contents"
            && file.deletingLastPathComponent().pathExtension == "xcdatamodel"
    }

    /// `NSStoreModelVersionHashes` and the digest, read from a copy of the store.
    private static func metadata(
        of store: URL
    ) throws -> (hashes: [String: [UInt8]], digest: String?) {
        try withTemporaryFolder { folder in
            let copy = folder.appendingPathComponent("store")
            try FileManager.default.copyItem(at: store, to: copy)
            let log = URL(fileURLWithPath: store.path + "-wal")
            if FileManager.default.fileExists(atPath: log.path) {
                try FileManager.default.copyItem(
                    at: log, to: folder.appendingPathComponent("store-wal"))
            }
            for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o600],
                    ofItemAtPath: folder.appendingPathComponent(file).path)
            }
            let database = try DatabaseQueue(path: copy.path)
            let bytes = try database.read { database in
                try Data.fetchOne(database, sql: "SELECT Z_PLIST FROM Z_METADATA")
            }
            let list = try PropertyListSerialization.propertyList(
                from: #require(bytes), options: [], format: nil)
            let values = try #require(list as? [String: Any])
            let hashes = try #require(values["NSStoreModelVersionHashes"] as? [String: Data])
            return (
                hashes.mapValues { [UInt8]($0) },
                values["NSStoreModelVersionHashesDigest"] as? String
            )
        }
    }

    @Test func everyXMLModelIsRead() throws {
        let files = try Fixtures.files(where: Self.isModel)
        #expect(files.count == 110)
        for file in files {
            let model = try XMLModelReader.read(file.deletingLastPathComponent())
            let isEmpty = file.path.contains("Version1_to_Version2")
            #expect(model.entities.isEmpty == isEmpty, "\(file.path)")
            #expect(VersionHashes(model).unconfirmed.isEmpty, "\(file.path)")
        }
    }

    /// Stores by repository, and how many of them have an XML model with equal hashes.
    @Test(arguments: [
        ("wireapp-wire-ios-data-model", "wiredatabase", 40, 38),
        ("objcio-core-data", "moody", 5, 5),
        ("duckduckgo-BrowserServicesKit", "sqlite", 6, 6),
        ("wibosco-CoreDataMigrationRevised-Example", "sqlite", 3, 3),
        ("alemar11-CoreDataPlus", "sqlite", 5, 3),
    ])
    func storesFindTheirXMLModel(
        repository: String, kind: String, stores: Int, matching: Int
    ) throws {
        let models = try Fixtures.files {
            Self.isModel($0) && $0.path.contains(repository)
        }.map { VersionHashes(try XMLModelReader.read($0.deletingLastPathComponent())) }
        let files = try Fixtures.files {
            $0.pathExtension == kind && $0.path.contains(repository)
        }
        #expect(files.count == stores)
        var found = 0
        for file in files {
            let (hashes, digest) = try Self.metadata(of: file)
            guard let model = models.first(where: { $0.entities == hashes }) else { continue }
            found += 1
            if let digest { #expect(model.digest == digest, "\(file.path)") }
        }
        #expect(found == matching)
    }

    /// The digest follows from the hashes, whichever rules made those.
    @Test func everyStoreHasTheDigestOfItsHashes() throws {
        let kinds: Set<String> = ["wiredatabase", "moody", "sqlite", "graphdb"]
        var checked = 0
        for file in try Fixtures.files(where: { kinds.contains($0.pathExtension) }) {
            let (hashes, digest) = try Self.metadata(of: file)
            guard let digest else { continue }
            #expect(VersionHashes(read: hashes).digest == digest, "\(file.path)")
            checked += 1
        }
        #expect(checked > 20)
    }

    @Test(arguments: ["SampleModel", "SampleModel3"])
    func compiledModelsNameTheHashesOfTheirXML(name: String) throws {
        let folder = try Fixtures.url("alemar11-CoreDataPlus/Tests/Resources/\(name)")
        let list = try PropertyListSerialization.propertyList(
            from: Data(
                contentsOf: folder.appendingPathComponent(
                    "Fixtures/\(name).momd/VersionInfo.plist")),
            options: [], format: nil)
        let values = try #require(list as? [String: Any])
        let versions = try #require(
            values["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]])
        let checksums =
            values["NSManagedObjectModel_VersionChecksums"] as? [String: String] ?? [:]
        #expect(versions.count == 3)
        for (version, hashes) in versions {
            let model = try ModelBundle.read(
                folder.appendingPathComponent("\(name).xcdatamodeld"), version: version)
            let computed = VersionHashes(model)
            #expect(computed.differences(from: hashes.mapValues { [UInt8]($0) }) == [])
            if let checksum = checksums[version] { #expect(computed.checksum == checksum) }
        }
    }

    @Test func everyBundleNamesItsVersions() throws {
        let bundles = Set(
            try Fixtures.files(where: Self.isModel)
                .map { $0.deletingLastPathComponent().deletingLastPathComponent() }
                .filter { $0.pathExtension == "xcdatamodeld" })
        #expect(bundles.count > 10)
        for bundle in bundles {
            for version in try ModelBundle.versions(of: bundle) {
                _ = try ModelBundle.read(bundle, version: version)
            }
        }
    }

    @Test func oldEditorFormatIsRefusedWithAWayOut() throws {
        let folder = try Fixtures.url(
            "RestKit-RestKit/Examples/RKTwitterCoreData/Resources/RKTwitterCoreData.xcdatamodel")
        let error = #expect(throws: ModelError.self) { try XMLModelReader.read(folder) }
        #expect(error?.description.contains("old Xcode editors") == true)
    }

    /// A model differs from itself in nothing, and neighbours differ in what hashes say.
    @Test func differencesAgreeWithHashes() throws {
        let bundle = try Fixtures.url(
            "wireapp-wire-ios-data-model/models/zmessaging.xcdatamodeld")
        let names = try ModelBundle.versions(of: bundle)
        let models = try names.map { try ModelBundle.read(bundle, version: $0) }
        for (older, newer) in zip(models, models.dropFirst()) {
            #expect(ModelDiff(from: older, to: older).isEmpty)
            let isHashChange = ModelDiff(from: older, to: newer).changes
                .contains { $0.changesVersionHash }
            #expect(
                isHashChange == (VersionHashes(older).entities != VersionHashes(newer).entities))
        }
    }
}
