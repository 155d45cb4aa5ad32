package import Foundation
package import Testing

/// Where the stores and models that Apple's tools wrote lie, if they are at hand.
///
/// `GODWIT_FIXTURES` names the folder; without it `../shared/fixtures` beside the package is
/// tried. Tests that need a fixture are skipped where the folder is absent.
package enum Fixtures {
    /// The folder, or nil where there is none.
    package static let folder: URL? = {
        let named = ProcessInfo.processInfo.environment["GODWIT_FIXTURES"]
        let beside = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("shared/fixtures")
        let candidate = named.map { URL(fileURLWithPath: $0) } ?? beside
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(
            atPath: candidate.path, isDirectory: &isFolder)
        return exists && isFolder.boolValue ? candidate : nil
    }()

    /// Whether fixtures are at hand: the condition of every test that reads one.
    package static var available: Bool { folder != nil }

    /// What a skipped test says.
    package static let absence: Comment =
        "no fixtures: set GODWIT_FIXTURES to the folder that holds them"

    /// The place of one fixture by its path below the folder.
    ///
    /// - Throws: `CocoaError` where the fixtures are absent.
    package static func url(_ path: String) throws -> URL {
        guard let folder else { throw CocoaError(.fileNoSuchFile) }
        return folder.appendingPathComponent(path)
    }

    /// All files below the folder for which the condition holds, sorted by path.
    ///
    /// - Throws: `CocoaError` where the fixtures are absent.
    package static func files(where condition: (URL) -> Bool) throws -> [URL] {
        guard let folder else { throw CocoaError(.fileNoSuchFile) }
        let walk = FileManager.default.enumerator(
            at: folder, includingPropertiesForKeys: nil, options: [])
        var found: [URL] = []
        while let file = walk?.nextObject() as? URL {
            if condition(file) { found.append(file) }
        }
        return found.sorted { $0.path < $1.path }
    }
}
