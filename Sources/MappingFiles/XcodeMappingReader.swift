import Foundation
import ManagedObjectModel
import MappingExpressions
import MappingModel
import ModelFiles

/// Reads `X.xcmappingmodel/xcmapping.xml`: a Core Data XML store of Xcode's editing objects
/// (mapping-model page §1).
struct XcodeMappingReader {
    /// The objects of the file by their id.
    private let objects: [String: XcodeObject]
    private(set) var warnings: [String] = []

    /// The one document type that Xcode writes; it is taken out, not followed.
    private static let documentType =
        "<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">"

    private init(_ bytes: [UInt8]) throws(MappingFileError) {
        let document = try MappingFileError.translating {
            try DocumentParser.parse(Self.withoutDocumentType(bytes), keepsText: true)
        }
        guard document.name == "database" else {
            throw .malformed("the XML is not a mapping model: its root element is \(document.name)")
        }
        var objects: [String: XcodeObject] = [:]
        for element in document.children(named: "object") {
            let object = try XcodeObject(element)
            guard objects.updateValue(object, forKey: object.id) == nil else {
                throw .malformed("line \(element.line): object \(object.id) occurs twice")
            }
        }
        self.objects = objects
    }

    /// Reads the bytes of an `xcmapping.xml`.
    ///
    /// - Throws: `MappingFileError` for anything but a mapping model of Xcode.
    static func read(_ bytes: [UInt8]) throws(MappingFileError) -> MappingFile.Content {
        var reader = try XcodeMappingReader(bytes)
        let models = reader.objects.values.filter { $0.type == "XDDEVMAPPINGMODEL" }
        guard models.count == 1, let root = models.first else {
            throw .malformed("the XML holds \(models.count) mapping models instead of one")
        }
        let definition = try reader.definition(root)
        return MappingFile.Content(
            definition: definition,
            embedded: MappingFile.EmbeddedModels(
                source: try reader.model(root, "sourcemodeldata"),
                destination: try reader.model(root, "destinationmodeldata")),
            warnings: reader.warnings)
    }

    /// The bytes with spaces in place of the document type, so that lines stay where they are.
    private static func withoutDocumentType(_ bytes: [UInt8]) -> [UInt8] {
        let wanted = Array(documentType.utf8)
        guard let first = bytes.prefix(4096).firstIndex(of: UInt8(ascii: "!")), first > 0,
            bytes[(first - 1)...].starts(with: wanted)
        else { return bytes }
        var plain = bytes
        for place in (first - 1)..<(first - 1 + wanted.count) { plain[place] = 0x20 }
        return plain
    }

    private func model(
        _ root: XcodeObject, _ key: String
    ) throws(MappingFileError) -> ModelOutline? {
        guard let bytes = try root.data(key) else { return nil }
        do throws(MappingFileError) {
            return try ModelOutline(bytes)
        } catch {
            throw error.located(key)
        }
    }

    // MARK: - Mappings

    private mutating func definition(
        _ root: XcodeObject
    ) throws(MappingFileError) -> MappingDefinition {
        var numbered: [(number: Int, mapping: EntityMappingDefinition)] = []
        for object in try members(of: root, "entitymappings", "XDDEVENTITYMAPPING") {
            let mapping = try entityMapping(object)
            guard mapping.source != nil || mapping.destination != nil else {
                throw .malformed(
                    "line \(object.line): an entity mapping has neither source nor destination")
            }
            numbered.append((try object.integer("mappingnumber") ?? 0, mapping))
        }
        let sorted = numbered.enumerated().sorted {
            ($0.element.number, $0.offset) < ($1.element.number, $1.offset)
        }
        return MappingDefinition(
            entityMappings: sorted.map(\.element.mapping), infersRest: false)
    }

    private mutating func entityMapping(
        _ object: XcodeObject
    ) throws(MappingFileError) -> EntityMappingDefinition {
        var mapping = EntityMappingDefinition(
            name: object.text("name"), source: object.text("sourcename"),
            destination: object.text("destinationname"),
            policy: object.text("migrationpolicyclassname"),
            position: FilePosition(line: object.line, column: 1))
        if let bytes = try object.data("sourceexpressiondata") {
            try readSource(bytes, of: &mapping, at: object)
        }
        for member in try members(of: object, "attributemappings", "XDDEVATTRIBUTEMAPPING") {
            mapping.attributes.append(
                PropertyMappingDefinition(
                    destination: try member.required("name"), value: try value(of: member),
                    position: FilePosition(line: member.line, column: 1)))
        }
        let relationships = try members(
            of: object, "relationshipmappings", "XDDEVRELATIONSHIPMAPPING")
        for member in relationships {
            mapping.relationships.append(
                PropertyMappingDefinition(
                    destination: try member.required("name"), value: try links(of: member),
                    position: FilePosition(line: member.line, column: 1)))
        }
        // Xcode lists them in no order.
        mapping.attributes.sort { $0.destination < $1.destination }
        mapping.relationships.sort { $0.destination < $1.destination }
        return mapping
    }

    private func value(
        of object: XcodeObject
    ) throws(MappingFileError) -> PropertyMappingDefinition.Value {
        guard let bytes = try object.data("valueexpressiondata") else { return .automatic }
        return .expression(try expression(bytes, at: object))
    }

    private func links(
        of object: XcodeObject
    ) throws(MappingFileError) -> PropertyMappingDefinition.Value {
        if let path = object.text("sourcekeypath") {
            let instances = try parse(path, at: object) { text throws(ExpressionError) in
                try ExpressionParser.expression(text)
            }
            if let name = object.text("sourcemappingname") {
                return .expression(ManagerCall.entityMapping(name, instances).expression)
            }
            guard let keys = instances.sourceKeys, keys.count == 1 else {
                throw .unsupported(
                    "line \(object.line): key path \(path) names no source mapping")
            }
            return .expression(ManagerCall.relationship(keys[0], instances).expression)
        }
        if let bytes = try object.data("valueexpressiondata") {
            return .expression(try expression(bytes, at: object))
        }
        return try object.flag("autogenerateexpression") ? .automatic : .unset
    }

    private mutating func readSource(
        _ bytes: [UInt8], of mapping: inout EntityMappingDefinition, at object: XcodeObject
    ) throws(MappingFileError) {
        var reader = ExpressionArchive(
            try MappingFileError.translating { try KeyedArchive(bytes) })
        let root = try MappingFileError.translating { try reader.archive.root() }
        guard let fetch = try reader.fetch(root) else {
            warnings.append(
                "line \(object.line): the source expression of entity mapping "
                    + "\(mapping.effectiveName) fetches nothing and is left out")
            return
        }
        let predicate = try parse(fetch.predicate, at: object) { text throws(ExpressionError) in
            try ExpressionParser.predicate(text)
        }
        if predicate != .constant(true) { mapping.filter = predicate }
    }

    private func expression(
        _ bytes: [UInt8], at object: XcodeObject
    ) throws(MappingFileError) -> MappingExpression {
        do throws(MappingFileError) {
            return try ExpressionArchive.expression(bytes)
        } catch {
            throw error.located("line \(object.line)")
        }
    }

    private func parse<Value>(
        _ text: String, at object: XcodeObject,
        _ body: (String) throws(ExpressionError) -> Value
    ) throws(MappingFileError) -> Value {
        do throws(ExpressionError) {
            return try body(text)
        } catch {
            throw .malformed("line \(object.line): \(error)")
        }
    }

    /// The objects that a relationship lists, each of the type that belongs there.
    private func members(
        of object: XcodeObject, _ relationship: String, _ type: String
    ) throws(MappingFileError) -> [XcodeObject] {
        var found: [XcodeObject] = []
        for id in object.references[relationship] ?? [] {
            guard let member = objects[id], member.type == type else {
                throw .malformed(
                    "line \(object.line): \(relationship) lists \(id), which is no \(type)")
            }
            found.append(member)
        }
        return found
    }
}

/// One object of the file.
private struct XcodeObject {
    let type: String
    let id: String
    let line: Int
    /// Attributes with a value.
    private let values: [String: String]
    /// Ids by relationship.
    let references: [String: [String]]

    init(_ element: DocumentElement) throws(MappingFileError) {
        type = try MappingFileError.translating { try element.required("type") }
        id = try MappingFileError.translating { try element.required("id") }
        line = element.line
        var values: [String: String] = [:]
        for attribute in element.children(named: "attribute") where !attribute.content.isEmpty {
            guard let name = attribute.text("name") else { continue }
            values[name] = attribute.content
        }
        var references: [String: [String]] = [:]
        for relationship in element.children(named: "relationship") {
            guard let name = relationship.text("name") else { continue }
            references[name] = (relationship.text("idrefs") ?? "").split(separator: " ")
                .map(String.init)
        }
        self.values = values
        self.references = references
    }

    /// The value of an attribute; nil where it is absent or empty.
    func text(_ name: String) -> String? { values[name] }

    func required(_ name: String) throws(MappingFileError) -> String {
        guard let value = values[name] else {
            throw .malformed("line \(line): object \(id) has no \(name)")
        }
        return value
    }

    func integer(_ name: String) throws(MappingFileError) -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = Int(text) else {
            throw .malformed("line \(line): \(name) of object \(id) is not a number")
        }
        return number
    }

    func flag(_ name: String) throws(MappingFileError) -> Bool { try integer(name) ?? 0 != 0 }

    func data(_ name: String) throws(MappingFileError) -> [UInt8]? {
        guard let text = values[name] else { return nil }
        guard let bytes = Data(base64Encoded: text, options: .ignoreUnknownCharacters),
            !bytes.isEmpty
        else { throw .malformed("line \(line): \(name) of object \(id) is not base64") }
        return [UInt8](bytes)
    }
}
