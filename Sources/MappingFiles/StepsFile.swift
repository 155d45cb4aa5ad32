import Foundation
package import MappingModel
import ModelFiles
import Yams

/// The steps of a chain as a YAML file says them, for people who want more than a list of versions:
/// a mapping file, and programs, for each step.
package struct StepsFile: Sendable {
    /// A step of the chain.
    package struct Step: Hashable, Sendable {
        /// The version that it gives.
        package let version: String
        /// Where that stands in the file.
        package let position: FilePosition?
        /// The path of the mapping file of this step alone.
        package let mapping: String?
        /// A program with its arguments that runs on the store before the step; empty for none.
        package let before: [String]
        /// A program with its arguments that runs on the store that the step gives.
        package let after: [String]
    }

    /// As the user named it.
    package let path: String
    /// In their order, at least one.
    package let steps: [Step]

    /// The version of the form.
    private static let version = 1
    /// The largest file that is read, in bytes.
    private static let sizeLimit = 1 << 20
    /// The most steps of a file.
    private static let stepLimit = 256

    /// Whether a text is the path of such a file, and no list of versions.
    package static func isPath(_ text: String) -> Bool {
        !text.contains(",") && (text.hasSuffix(".yaml") || text.hasSuffix(".yml"))
    }

    /// Reads a steps file.
    ///
    /// - Parameter path: of a YAML file.
    /// - Throws: `MappingFileError`: `unreadable`, and `steps` with every mistake and its place.
    package init(path: String) throws(MappingFileError) {
        let bytes = try MappingFileError.translating {
            try BoundedFile.read(URL(fileURLWithPath: path), limit: Self.sizeLimit)
        }
        var mistakes: [MappingMistake] = []
        var steps: [Step] = []
        do throws(MappingMistake) {
            let root = try YAMLDocument.root(bytes)
            let fields = try YAMLFields(
                root, of: "a steps file", keys: ["godwit-steps", "steps"])
            guard let version = fields["godwit-steps"] else {
                throw MappingMistake(
                    text: "the file has no key godwit-steps; its first line must be "
                        + "\"godwit-steps: \(Self.version)\"")
            }
            guard version.scalar?.string == String(Self.version) else {
                throw version.malformed("only format version \(Self.version) is supported")
            }
            guard let list = fields["steps"], !(try list.elements().isEmpty) else {
                throw MappingMistake(text: "the file has no steps")
            }
            let nodes = try list.elements()
            guard nodes.count <= Self.stepLimit else {
                throw list.malformed("a file has at most \(Self.stepLimit) steps")
            }
            for node in nodes {
                do throws(MappingMistake) {
                    steps.append(try Self.step(node, in: path))
                } catch {
                    mistakes.append(error)
                }
            }
        } catch {
            mistakes.append(error)
        }
        guard mistakes.isEmpty else {
            throw MappingFileError.mistakes(mistakes) { .steps($0) }.located(path)
        }
        self.path = path
        self.steps = steps
    }

    private static func step(_ node: Node, in path: String) throws(MappingMistake) -> Step {
        let fields = try YAMLFields(
            node, of: "a step", keys: ["version", "mapping", "before", "after"])
        guard let version = try fields.text("version") else {
            throw node.malformed("a step has no version")
        }
        let mapping = try fields.text("mapping").map { name in
            name.hasPrefix("/") ? name : "\(folder(of: path))\(name)"
        }
        return Step(
            version: version, position: fields["version"]?.position, mapping: mapping,
            before: try program(fields["before"], in: path),
            after: try program(fields["after"], in: path))
    }

    /// What a relative path in the file begins with: the file's own folder.
    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// A program that is named by a path is sought from the file's folder, as mapping files are.
    private static func program(_ node: Node?, in path: String) throws(MappingMistake) -> [String] {
        guard let node else { return [] }
        guard node.sequence != nil else {
            throw node.malformed("a program is a list: [program, argument, …]")
        }
        var words: [String] = []
        for word in try node.elements() {
            guard word.tag != Tag(.null) else {
                throw word.malformed("an argument is null; put a text in quotes")
            }
            words.append(try word.text())
        }
        guard let name = words.first, !name.isEmpty else {
            throw node.malformed("the program has no name")
        }
        if name.contains("/"), !name.hasPrefix("/") { words[0] = "\(folder(of: path))\(name)" }
        return words
    }
}
