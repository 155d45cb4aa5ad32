import MappingExpressions
import MappingModel
import ModelFiles

/// Reads compiled mapping models, `X.cdm`: keyed archives of an `NSMappingModel` (mapping-model
/// page §2).
struct CompiledMappingReader {
    private var expressions: ExpressionArchive
    private var warnings: [String] = []

    /// Reads the bytes of a `.cdm`.
    ///
    /// - Throws: `MappingFileError` for anything but a compiled mapping model.
    static func read(_ bytes: [UInt8]) throws(MappingFileError) -> MappingFile.Content {
        var reader = CompiledMappingReader(
            expressions: ExpressionArchive(
                try MappingFileError.translating { try KeyedArchive(bytes) }))
        let definition = try reader.definition()
        return MappingFile.Content(
            definition: definition, embedded: nil, warnings: reader.warnings)
    }

    private mutating func definition() throws(MappingFileError) -> MappingDefinition {
        let root = try MappingFileError.translating { try expressions.archive.root() }
        guard root.className == "NSMappingModel" else {
            throw .malformed("the archive holds a \(root.className), not a mapping model")
        }
        var mappings: [EntityMappingDefinition] = []
        for reference in try list(root["NSEntityMappings"]) {
            mappings.append(try entityMapping(expressions.object(reference)))
        }
        return MappingDefinition(entityMappings: mappings, infersRest: false)
    }

    private mutating func entityMapping(
        _ object: ArchivedObject
    ) throws(MappingFileError) -> EntityMappingDefinition {
        guard object.className == "NSEntityMapping" else {
            throw .malformed("found a \(object.className) instead of an entity mapping")
        }
        var mapping = EntityMappingDefinition(
            name: try text(object, "NSMappingName"), source: try text(object, "NSSourceEntityName"),
            destination: try text(object, "NSDestinationEntityName"),
            policy: try text(object, "NSEntityMigrationPolicyClassName"),
            sourceHash: try hash(object, "NSSourceEntityVersionHash"),
            destinationHash: try hash(object, "NSDestinationEntityVersionHash"))
        let name = mapping.effectiveName
        let number = try MappingFileError.translating {
            try expressions.archive.integer(object["NSMappingType"])
        }
        // Type 0 is undefined: it follows from the rest, as in Xcode's files.
        if let number, number != 0 {
            guard let raw = Int(exactly: number), let type = EntityMappingType(rawValue: raw) else {
                throw .unsupported("entity mapping \(name) has the unknown type \(number)")
            }
            mapping.type = type
        }
        guard mapping.source != nil || mapping.destination != nil else {
            throw .malformed("entity mapping \(name) has neither source nor destination")
        }
        if try expressions.plain(object["NSSourceExpression"]) != nil {
            try readSource(of: &mapping, object)
        }
        mapping.attributes = try properties(object["NSAttributeMappings"], of: name)
        mapping.relationships = try properties(object["NSRelationshipMappings"], of: name)
        return mapping
    }

    private mutating func readSource(
        of mapping: inout EntityMappingDefinition, _ object: ArchivedObject
    ) throws(MappingFileError) {
        let name = mapping.effectiveName
        let source = try expressions.part(object, "NSSourceExpression")
        guard let fetch = try expressions.fetch(source) else {
            throw .unsupported("the source expression of entity mapping \(name) fetches nothing")
        }
        guard fetch.entity == mapping.source else {
            throw .malformed(
                "entity mapping \(name) fetches \(fetch.entity) instead of its source entity")
        }
        let predicate: MappingPredicate
        do throws(ExpressionError) {
            predicate = try ExpressionParser.predicate(fetch.predicate)
        } catch {
            throw .malformed("the source predicate of entity mapping \(name): \(error)")
        }
        if predicate != .constant(true) { mapping.filter = predicate }
    }

    private mutating func properties(
        _ reference: PropertyList?, of mapping: String
    ) throws(MappingFileError) -> [PropertyMappingDefinition] {
        var found: [PropertyMappingDefinition] = []
        for reference in try list(reference) {
            let object = try expressions.object(reference)
            guard let name = try text(object, "NSDestinationPropertyName") else {
                throw .malformed("a property mapping of \(mapping) names no property")
            }
            if try expressions.plain(object["NSPropertyTransforms"]) != nil {
                throw .unsupported("\(mapping).\(name) has property transforms")
            }
            guard try expressions.plain(object["NSValueExpression"]) != nil else {
                found.append(PropertyMappingDefinition(destination: name, value: .unset))
                continue
            }
            do throws(MappingFileError) {
                let expression = try expressions.expression(
                    expressions.part(object, "NSValueExpression"))
                found.append(
                    PropertyMappingDefinition(destination: name, value: .expression(expression)))
            } catch {
                throw error.located("\(mapping).\(name)")
            }
        }
        return found.sorted { $0.destination < $1.destination }
    }

    private mutating func list(
        _ reference: PropertyList?
    ) throws(MappingFileError) -> [PropertyList] {
        try MappingFileError.translating { try expressions.archive.list(reference) }
    }

    /// The text of a key; nil where it is null or empty.
    private mutating func text(
        _ object: ArchivedObject, _ key: String
    ) throws(MappingFileError) -> String? {
        let text = try MappingFileError.translating { try expressions.archive.text(object[key]) }
        return text == "" ? nil : text
    }

    private mutating func hash(
        _ object: ArchivedObject, _ key: String
    ) throws(MappingFileError) -> [UInt8]? {
        guard let value = try expressions.plain(object[key]) else { return nil }
        let bytes = try MappingFileError.translating { try expressions.archive.dataOrNil(value) }
        guard let bytes, bytes.count == 32 else {
            throw .malformed("\(key) is not a hash of 32 bytes")
        }
        return bytes
    }
}
