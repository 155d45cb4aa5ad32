import Foundation

/// One broken rule, as `file:line: what is wrong`.
struct Violation: Hashable, CustomStringConvertible {
    let path: String
    /// From 1.
    let line: Int
    let text: String

    var description: String { "\(path):\(line): \(text)" }
}

/// A text file of the repository by its path below the root.
struct TextFile {
    let path: String
    let lines: [String]

    init(path: String, text: String) {
        self.path = path
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last?.isEmpty == true { lines.removeLast() }
        self.lines = lines
    }

    var isSwift: Bool { path.hasSuffix(".swift") }
    /// Code that another program wrote keeps that program's style.
    var isGenerated: Bool { path.hasSuffix(".pb.swift") }
}

/// The repository that this file lies in.
enum Repository {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Folders with files that people write or read, and single files.
    private static let places = [
        "Sources", "Tests", "docs", "docker", ".ci", "Package.swift", "README.md",
    ]
    private static let endings = [
        "swift", "c", "h", "modulemap", "md", "yml", "yaml", "json", "sh", "proto", "txt",
    ]

    /// Every text file, sorted by path.
    static let files: [TextFile] = {
        var found: [TextFile] = []
        for place in places {
            let start = root.appendingPathComponent(place)
            var candidates = [start]
            let walk = FileManager.default.enumerator(
                // Packages below docs have build folders of their own.
                at: start, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
            while let file = walk?.nextObject() as? URL { candidates.append(file) }
            for file in candidates where isText(file) {
                guard let data = FileManager.default.contents(atPath: file.path) else { continue }
                let path = String(file.path.dropFirst(root.path.count + 1))
                found.append(TextFile(path: path, text: String(decoding: data, as: UTF8.self)))
            }
        }
        return found.sorted { $0.path < $1.path }
    }()

    private static func isText(_ file: URL) -> Bool {
        file.lastPathComponent == "Dockerfile" || endings.contains(file.pathExtension)
    }

    /// The Swift files that people write.
    static var swiftFiles: [TextFile] { files.filter { $0.isSwift && !$0.isGenerated } }
}
