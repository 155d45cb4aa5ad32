import Foundation
import ManagedObjectModel
import ModelFiles
import TestSupport
import Testing

@Suite("Compiled models")
struct CompiledModelTests {
    private static func makeBundle(in folder: URL, versionInfo: Data) throws -> URL {
        let bundle = folder.appendingPathComponent("Sample.momd")
        try FileManager.default.createDirectory(
            at: bundle, withIntermediateDirectories: false)
        let archive = try ModelArchive.write(ArchiveSamples.model())
        try Data(archive).write(to: bundle.appendingPathComponent("Sample 2.mom"))
        try versionInfo.write(to: bundle.appendingPathComponent("VersionInfo.plist"))
        return bundle
    }

    private static var versionInfo: [String: Any] {
        [
            "NSManagedObjectModel_CurrentVersionName": "Sample 2",
            "NSManagedObjectModel_VersionHashes": [
                "Sample": ["Page": Data(repeating: 1, count: 32)],
                "Sample 2": ["Page": Data(repeating: 2, count: 32)],
            ],
        ]
    }

    @Test(
        "A bundle gives its current version with its hashes, be its list binary or XML",
        arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
    func current(format: PropertyListSerialization.PropertyListFormat) throws {
        let info = try PropertyListSerialization.data(
            fromPropertyList: Self.versionInfo, format: format, options: 0)
        try withTemporaryFolder { folder in
            let bundle = try Self.makeBundle(in: folder, versionInfo: info)
            let compiled = try CompiledModel.read(momd: bundle)
            #expect(compiled.name == "Sample 2")
            #expect(compiled.model == (try ArchiveSamples.model()))
            #expect(compiled.storedHashes?["Page"] == [UInt8](repeating: 2, count: 32))
            #expect(try ModelArchive.read(compiled.archive) == compiled.model)
            let versions = try CompiledModelVersions.read(momd: bundle)
            #expect(versions.names == ["Sample", "Sample 2"])
        }
    }

    @Test("A version that is not there is refused by name")
    func missing() throws {
        let info = try PropertyListSerialization.data(
            fromPropertyList: Self.versionInfo, format: .binary, options: 0)
        try withTemporaryFolder { folder in
            let bundle = try Self.makeBundle(in: folder, versionInfo: info)
            for version in ["Sample 3", "Sample", "../Sample.momd/Sample 2"] {
                #expect(throws: ModelError.self) {
                    try CompiledModel.read(momd: bundle, version: version)
                }
            }
        }
    }

    @Test("Lists that are no version info are refused")
    func malformed() throws {
        let deep = String(repeating: "<array>", count: 100_000)
        for text in ["", "<plist><dict></dict></plist>", "bplist00", deep] {
            try withTemporaryFolder { folder in
                let bundle = try Self.makeBundle(in: folder, versionInfo: Data(text.utf8))
                #expect(throws: ModelError.self) { try CompiledModel.read(momd: bundle) }
            }
        }
    }

    @Test(
        "Compiled models of the fixtures read, and have the hashes that the compiler stored",
        .enabled(if: Fixtures.available, Fixtures.absence))
    func fixtures() throws {
        #expect(try FixtureArchives.compiledModels().count >= 6)
        for file in try FixtureArchives.compiledModels() {
            let compiled = try CompiledModel.read(mom: file)
            #expect(compiled.storedHashes == nil)
            #expect(!compiled.model.entities.isEmpty)
        }
        var versions = 0
        for bundle in try FixtureArchives.compiledBundles() {
            for name in try CompiledModelVersions.read(momd: bundle).names {
                let compiled = try CompiledModel.read(momd: bundle, version: name)
                #expect(
                    VersionHashes(compiled.model).entities == compiled.storedHashes,
                    "\(bundle.lastPathComponent) \(name)")
                versions += 1
            }
        }
        #expect(versions >= 6)
    }
}
