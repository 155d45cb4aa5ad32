package import DurableFiles
import SafeSQLite

/// One file of objects.
package struct ImportPart: Hashable, Sendable {
    /// From its name; parts are imported in the order of their numbers.
    package let number: Int
    package let path: FilePath
    /// In bytes.
    package let size: Int64
}

/// The numbered files of a folder that hold objects, one in each line.
package struct PartFolder: Hashable, Sendable {
    package let path: FilePath
    /// In the order of their numbers.
    package let parts: [ImportPart]
    /// Names of other files of the folder, which are left alone.
    package let others: [String]

    /// The most parts of a folder: the store's metadata name each.
    private static let limit = 10_000
    private static let ending = ".jsonl"
    /// Digits of a number, at most.
    private static let digits = 15

    /// Lists a folder.
    ///
    /// - Throws: `ImportError.parts` for a folder that is none, a part without a number, and two
    ///   parts with one number.
    /// - Complexity: O(n log n) in the files.
    package init(
        _ path: FilePath, _ files: DurableFileSystem = DurableFileSystem()
    ) throws(ImportError) {
        self.path = path
        var found: [ImportPart] = []
        var others: [String] = []
        try ImportError.translating {
            guard try FileStatus(of: path).isFolder else {
                throw ImportError.parts(
                    path: path.description,
                    reason: "it is a file; give the folder of the part files")
            }
            for name in try files.names(in: path).sorted() {
                let text = name.description
                guard text.hasSuffix(Self.ending) else {
                    others.append(text)
                    continue
                }
                guard let number = Self.number(in: text) else {
                    throw ImportError.parts(
                        path: path.appending(name).description,
                        reason: "its name has no number to set the import order")
                }
                let file = path.appending(name)
                let status = try FileStatus(of: file)
                guard status.isRegularFile else {
                    throw ImportError.parts(
                        path: file.description, reason: "it is \(status.kind), not a file")
                }
                found.append(ImportPart(number: number, path: file, size: status.size))
            }
        }
        parts = found.sorted { ($0.number, $0.path) < ($1.number, $1.path) }
        self.others = others
        guard parts.count <= Self.limit else {
            throw .parts(
                path: path.description,
                reason: "it has more than \(Self.limit) parts; join some of them")
        }
        for (one, next) in zip(parts, parts.dropFirst()) where one.number == next.number {
            throw .parts(
                path: next.path.description,
                reason: "it has the same number as \(one.path.lastComponent)")
        }
    }

    /// How many numbers between those of the parts no part has.
    var missingNumbers: Int {
        guard let first = parts.first, let last = parts.last else { return 0 }
        return last.number - first.number + 1 - parts.count
    }

    /// The last number in a name.
    static func number(in name: String) -> Int? {
        let stem = name.dropLast(ending.count)
        guard let end = stem.lastIndex(where: isDigit) else { return nil }
        let digits = stem[...end].reversed().prefix(while: isDigit).reversed()
        guard digits.count <= Self.digits else { return nil }
        return Int(String(digits))
    }

    private static func isDigit(_ character: Character) -> Bool {
        character.isASCII && character.isNumber
    }
}
