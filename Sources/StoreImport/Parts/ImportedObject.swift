import CoreDataStore
import Foundation
import ManagedObjectModel
import MappingExpressions
import MigrationPlans

/// The targets that one line names for one relationship.
struct ImportedLinks: Sendable {
    let relationship: ImportedRelationship
    /// By which the targets are found.
    let key: ImportedKey
    /// Keys of the targets; empty where a to-one is to lead nowhere.
    let targets: [StoredCell]
}

/// An object as one line of a part describes it.
///
/// ```json
/// {"entity": "Note", "attributes": {"id": 7, "title": "…"}, "relationships": {"folder": "f1"}}
/// ```
struct ImportedObject: Sendable {
    /// An attribute by its place among those of the entity; nil for null.
    struct Cell: Sendable {
        let attribute: Int
        let cell: StoredCell?
    }

    let entity: ImportedEntity
    /// Each attribute once, in the order of their places.
    let cells: [Cell]
    let links: [ImportedLinks]

    /// The value of the entity's key; nil where the line has none.
    var key: StoredCell? {
        guard let place = entity.keyPlace else { return nil }
        return cells.first { $0.attribute == place }?.cell
    }

    /// Holds a line against the model.
    ///
    /// - Throws: `ObjectFault.object` for a line that describes no object of the model.
    init(_ line: ParsedLine, _ schema: ImportSchema) throws(ObjectFault) {
        guard let name = line.entity else { throw .object("it names no entity") }
        let entity = try Self.entity(name, of: schema)
        self.entity = entity
        var cells: [Cell] = []
        cells.reserveCapacity(line.attributes.count)
        for property in line.attributes {
            let place = try Self.attribute(property.name, of: entity)
            let attribute = entity.attributes[place]
            let value = property.values[0]
            cells.append(
                Cell(
                    attribute: place,
                    cell: try ImportedValue.cell(value, of: attribute, in: entity)))
        }
        cells.sort { $0.attribute < $1.attribute }
        for (one, next) in zip(cells, cells.dropFirst()) where one.attribute == next.attribute {
            throw .object("it has \(entity.attributes[one.attribute].name) twice")
        }
        self.cells = cells
        // A default value would make one object of all lines without a key.
        if let place = entity.keyPlace, entity.attributes[place].defaultCell != nil,
            !cells.contains(where: { $0.attribute == place })
        {
            throw .object(
                "it has no value for \(entity.name).\(entity.attributes[place].name), which "
                    + "identifies the object")
        }
        links = try line.relationships.map { property throws(ObjectFault) in
            try Self.links(property, of: entity, schema)
        }.sorted { $0.relationship.key.property < $1.relationship.key.property }
        for (one, next) in zip(links, links.dropFirst())
        where one.relationship.key == next.relationship.key {
            throw .object("it has \(one.relationship.key.property) twice")
        }
    }

    private static func entity(
        _ name: String, of schema: ImportSchema
    ) throws(ObjectFault) -> ImportedEntity {
        if let found = schema.entities[name] { return found }
        guard schema.layout.model.entities[name] == nil else {
            throw .object("the entity \(name) is abstract")
        }
        throw .object(
            "the model has no entity \(ImportSchemaBuilder.quoted(name))"
                + ImportSchemaBuilder.hint(name, among: schema.entities.keys))
    }

    private static func attribute(
        _ name: String, of entity: ImportedEntity
    ) throws(ObjectFault) -> Int {
        if let found = entity.attributePlaces[name] { return found }
        if entity.relationships[name] != nil {
            throw .object("\(entity.name).\(name) is a relationship, not an attribute")
        }
        throw .object(
            "\(entity.name) has no stored attribute \(ImportSchemaBuilder.quoted(name))"
                + ImportSchemaBuilder.hint(name, among: entity.attributePlaces.keys))
    }

    private static func links(
        _ property: ParsedLine.Property, of entity: ImportedEntity, _ schema: ImportSchema
    ) throws(ObjectFault) -> ImportedLinks {
        guard let relationship = entity.relationships[property.name] else {
            throw .object(
                "\(entity.name) has no stored relationship "
                    + ImportSchemaBuilder.quoted(property.name)
                    + ImportSchemaBuilder.hint(property.name, among: entity.relationships.keys))
        }
        guard let key = schema.targetKey(of: relationship) else {
            throw .object(
                "\(relationship.key) leads to objects of \(relationship.destination), which have "
                    + "no key: no uniqueness constraint of one attribute, and none is given")
        }
        guard property.isList == relationship.isToMany else {
            throw .object(
                "\(relationship.key) must be "
                    + (relationship.isToMany ? "a list of keys" : "one key or null"))
        }
        let given = relationship.isToMany ? property.values : property.values.filter { $0 != nil }
        return ImportedLinks(
            relationship: relationship, key: key,
            targets: try given.map { value throws(ObjectFault) in
                try ImportedValue.key(value, key, of: relationship)
            })
    }
}

/// Turns values of lines into what columns hold.
enum ImportedValue {
    /// The value of an attribute.
    ///
    /// - Throws: `ObjectFault.object` for a value that has no equal in the attribute's type, and
    ///   for null in a required attribute.
    static func cell(
        _ value: DefaultValue?, of attribute: ImportedAttribute, in entity: ImportedEntity
    ) throws(ObjectFault) -> StoredCell? {
        guard let value else {
            guard attribute.isRequired else { return nil }
            throw .object("\(entity.name).\(attribute.name) is required and cannot be null")
        }
        do throws(ExpressionError) {
            return try cell(value, attribute)
        } catch {
            throw .object("\(entity.name).\(attribute.name): \(error.message)")
        }
    }

    /// The key of a relationship's target.
    ///
    /// - Throws: `ObjectFault.object` for a value that the target's key cannot have.
    static func key(
        _ value: DefaultValue?, _ key: ImportedKey, of relationship: ImportedRelationship
    ) throws(ObjectFault) -> StoredCell {
        guard let value else {
            throw .object("\(relationship.key) has null instead of a key")
        }
        do throws(ExpressionError) {
            return try cell(value, key.attribute)
        } catch {
            throw .object("\(relationship.key): \(error.message)")
        }
    }

    /// Digits of a number from the first that is not zero on.
    private static func digits(of text: String) -> Int {
        text.prefix { $0 != "e" && $0 != "E" }.filter(\.isNumber).drop { $0 == "0" }.count
    }

    private static func cell(
        _ value: DefaultValue, _ attribute: ImportedAttribute
    ) throws(ExpressionError) -> StoredCell {
        switch attribute.type {
        case .binary, .transformable:
            guard case .text(let text) = value, let bytes = Data(base64Encoded: text) else {
                throw ExpressionError(.evaluation, "it must be Base64 text")
            }
            return .blob((attribute.isExternal ? [ExternalReference.inlinePrefix] : []) + bytes)
        case .string:
            let typed = try TypeConversion.value(of: value, as: .string, nil)
            if case .text(let text) = typed, text.utf8.contains(0) {
                throw ExpressionError(.evaluation, "it has the character U+0000")
            }
            return try StoredCell(typed, as: .string)
        case .double, .float, .date:
            // Programs write 17 digits, more than a number needs to be told from its neighbours.
            if case .decimal(let text) = value, let number = Double(text), number.isFinite,
                digits(of: text) <= 17
            {
                return try StoredCell(
                    try TypeConversion.value(of: .real(number), as: attribute.type, nil),
                    as: attribute.type)
            }
            fallthrough
        default:
            return try StoredCell(
                try TypeConversion.value(of: value, as: attribute.type, nil), as: attribute.type)
        }
    }
}
