package import Foundation

/// Runs a body with a fresh folder and removes the folder afterwards.
///
/// - Throws: what the body throws, or `CocoaError` where the folder cannot be made.
package func withTemporaryFolder<Result>(
    _ body: (URL) throws -> Result
) throws -> Result {
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("godwit-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
}
