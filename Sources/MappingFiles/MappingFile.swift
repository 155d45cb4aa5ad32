import Foundation
package import MappingModel
import ModelFiles

/// A mapping model out of a file of any form that Godwit reads.
package struct MappingFile: Sendable {
    /// The form of a mapping file, by its ending.
    package enum Form: String, Hashable, Sendable, CaseIterable {
        /// A folder of Xcode.
        case xcode = "xcmappingmodel"
        /// What Xcode compiles it to.
        case compiled = "cdm"
        /// Written by hand.
        case yaml
    }

    /// The models that a file of Xcode carries with it; they can be older than the real ones.
    package struct EmbeddedModels: Sendable {
        package let source: ModelOutline?
        package let destination: ModelOutline?
    }

    /// What a reader makes of a file's bytes.
    package struct Content: Sendable {
        package let definition: MappingDefinition
        package let embedded: EmbeddedModels?
        package let warnings: [String]
    }

    /// As the user named it.
    package let path: String
    package let form: Form
    package let definition: MappingDefinition
    /// Nil for forms that carry no models.
    package let embedded: EmbeddedModels?
    /// What the user should know of the file, in words.
    package let warnings: [String]

    /// The largest mapping file that is read, in bytes.
    package static let sizeLimit = 16 << 20

    /// The form that a path stands for; nil for another ending.
    package static func form(of path: String) -> Form? {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        if name == "xcmapping.xml" { return .xcode }
        switch name.split(separator: ".").last {
        case "xcmappingmodel": return .xcode
        case "cdm": return .compiled
        case "yaml", "yml": return .yaml
        default: return nil
        }
    }

    /// Reads a mapping file.
    ///
    /// - Parameter path: of an `.xcmappingmodel`, a `.cdm` or a `.yaml`.
    /// - Throws: `MappingFileError` with the file's name and the place in it.
    package init(path: String) throws(MappingFileError) {
        guard let form = Self.form(of: path) else {
            throw .unreadable(
                "\(path) is not a mapping file: its name must end with .xcmappingmodel, .cdm, "
                    + ".yaml or .yml")
        }
        let url = URL(fileURLWithPath: path)
        let isFolder = form == .xcode && BoundedFile.isFolder(url)
        let file = isFolder ? url.appendingPathComponent("xcmapping.xml") : url
        let bytes = try MappingFileError.translating {
            try BoundedFile.read(file, limit: Self.sizeLimit)
        }
        do throws(MappingFileError) {
            try self.init(path: path, form: form, bytes: bytes)
        } catch {
            throw error.located(path)
        }
    }

    /// Reads the bytes of a mapping file.
    ///
    /// - Throws: `MappingFileError` with the place in the file.
    package init(path: String, form: Form, bytes: [UInt8]) throws(MappingFileError) {
        let content =
            switch form {
            case .xcode: try XcodeMappingReader.read(bytes)
            case .compiled: try CompiledMappingReader.read(bytes)
            case .yaml: try YAMLMappingReader.read(bytes)
            }
        self.path = path
        self.form = form
        definition = content.definition
        embedded = content.embedded
        warnings = content.warnings
    }
}
