import ManagedObjectModel
import MappingExpressions
import MappingModel

/// Compares the names and values of a mapping with two models.
///
/// It finds every mistake at once: what does not exist, what does not fit its property, and what
/// Godwit cannot run.
struct MappingCheck {
    let source: Model
    let destination: Model
    let definition: MappingDefinition
    private(set) var mistakes: [MappingMistake] = []
    /// What can be run, and is hardly meant.
    private(set) var warnings: [MappingMistake] = []

    init(
        _ definition: MappingDefinition, from source: Model, to destination: Model,
        policies: [PolicyDeclaration]
    ) {
        self.definition = definition
        self.source = source
        self.destination = destination
        checkNames()
        for mapping in definition.entityMappings { check(mapping) }
        checkPasses()
        mistakes +=
            PolicyCheck(
                definition, from: source, to: destination, policies: policies
            ).mistakes
    }

    private mutating func add(
        _ mapping: EntityMappingDefinition, _ text: String,
        at property: PropertyMappingDefinition? = nil
    ) {
        mistakes.append(MappingMistake(in: mapping, at: property, text))
    }

    private mutating func add(inFilterOf mapping: EntityMappingDefinition, _ text: String) {
        mistakes.append(MappingMistake(inFilterOf: mapping, text))
    }

    private mutating func checkNames() {
        var seen: Set<String> = []
        for mapping in definition.entityMappings
        where !seen.insert(mapping.effectiveName).inserted {
            add(mapping, "two entity mappings have this name: give one of them another name")
        }
    }

    private mutating func check(_ mapping: EntityMappingDefinition) {
        var isKnown = true
        if let name = mapping.source, source.entities[name] == nil {
            isKnown = false
            add(mapping, Self.unknown("entity", name, in: "the source model", source.entities.keys))
        }
        if let name = mapping.destination, destination.entities[name] == nil {
            isKnown = false
            add(
                mapping,
                Self.unknown("entity", name, in: "the destination model", destination.entities.keys)
            )
        }
        guard isKnown else { return }
        if let filter = mapping.filter { check(filter, of: mapping) }
        guard let entity = mapping.destination else { return }
        for attribute in mapping.attributes { check(attribute, of: mapping, entity) }
        for relationship in mapping.relationships { checkLinks(relationship, of: mapping, entity) }
    }

    private mutating func check(_ filter: MappingPredicate, of mapping: EntityMappingDefinition) {
        guard let entity = mapping.source else {
            return add(inFilterOf: mapping, "the entity mapping has no source entity to filter")
        }
        guard mapping.destination != nil else {
            return add(
                inFilterOf: mapping,
                "a removal takes all objects of its entity. To drop some, leave the "
                    + "removal out, and filter the mapping that keeps the others")
        }
        guard !filter.sourceExpression.callsPolicy else {
            return add(inFilterOf: mapping, "it cannot call methods of a policy")
        }
        var typer = ExpressionTyper(model: source, entity: entity)
        typer.check(filter, about: .object(entity))
        for mistake in typer.mistakes { add(inFilterOf: mapping, mistake) }
        warnings += typer.warnings.prefix(Self.warningLimit).map {
            MappingMistake(inFilterOf: mapping, $0)
        }
        guard typer.mistakes.isEmpty,
            let text = unsupported(filter.sourceExpression, from: entity)
                ?? AttemptCheck.mistake(in: filter.sourceExpression, of: nil)
        else { return }
        add(inFilterOf: mapping, text)
    }

    private static func unknown(
        _ noun: String, _ name: String, in owner: String, _ names: some Sequence<String>
    ) -> String {
        let hint = NameSuggestion.hint(
            name, names.sorted(), noun: noun == "entity" ? "entities" : "\(noun)s")
        return "\(owner) has no \(noun) \(name). \(hint)"
    }

    // MARK: - Attributes

    private mutating func check(
        _ property: PropertyMappingDefinition, of mapping: EntityMappingDefinition,
        _ entity: String
    ) {
        guard let attribute = destination.element(property.destination, of: entity) else {
            guard destination.relationship(property.destination, of: entity) == nil else {
                return add(
                    mapping, "it is a relationship: write it under relationships", at: property)
            }
            let names = destination.allAttributes(of: entity).map(\.attribute.name)
            return add(
                mapping,
                Self.unknown("attribute", property.destination, in: entity, names), at: property)
        }
        if case .converted = property.value {
            return add(mapping, noConversion(to: attribute, of: mapping.source), at: property)
        }
        if case .automatic = property.value, let from = mapping.source,
            !attribute.isTransient, attribute.derivation == nil,
            MappingDefinition.origin(of: attribute, in: source, from) == nil,
            !source.allAttributes(of: from).contains(where: {
                $0.attribute.renamingIdentifier == attribute.renamingIdentifier ?? attribute.name
            })
        {
            return add(
                mapping,
                "\(from) has no attribute of this name, nor of its renaming identifier: write an "
                    + "expression, or unset", at: property)
        }
        guard case .expression(let expression) = property.value else { return }
        if let text = refusal(of: attribute, property.destination) {
            return add(mapping, text, at: property)
        }
        if let call = Self.managerCall(in: expression) {
            return add(
                mapping, "\(call) gives objects, and an attribute needs a value", at: property)
        }
        var typer = ExpressionTyper(model: source, entity: mapping.source)
        let kind = typer.kind(of: expression)
        warnings += typer.warnings.prefix(Self.warningLimit).map {
            MappingMistake(in: mapping, at: property, $0)
        }
        if typer.mistakes.isEmpty, let keys = expression.sourceKeys, keys.count == 1,
            let from = mapping.source,
            source.attribute(keys[0], of: from)?.attribute.type == attribute.type
        {
            // Values of every type can be carried as they are.
            return
        }
        for mistake in typer.mistakes { add(mapping, mistake, at: property) }
        guard typer.mistakes.isEmpty else { return }
        if let text = unsupported(expression, from: mapping.source)
            ?? AttemptCheck.mistake(in: expression, of: attribute)
            ?? Self.refusal(expression, as: attribute.type)
        {
            return add(mapping, text, at: property)
        }
        guard !kind.fits(attribute.type) || attribute.type == .composite else { return }
        let isConvertible = kind.converts(to: attribute.type)
        let remedy = isConvertible ? ". Write {convert: \(Self.flowText(expression))}" : ""
        add(
            mapping,
            "\(expression.text) gives \(kind.noun), which an attribute of type "
                + "\(attribute.type) cannot hold\(remedy)", at: property)
    }

    /// Warnings of one property.
    private static let warningLimit = 8

    /// An expression within braces of YAML: signs and quotation marks would mean something there.
    private static func flowText(_ expression: MappingExpression) -> String {
        let text = expression.text
        let isPlain = text.allSatisfy { $0.isLetter || $0.isNumber || "$._".contains($0) }
        return isPlain ? text : "'\(text.replacing("'", with: "''"))'"
    }

    /// Why values cannot be turned into those of an attribute by one word.
    private func noConversion(to attribute: Attribute, of entity: String?) -> String {
        guard let entity, let before = MappingDefinition.origin(of: attribute, in: source, entity)
        else {
            return "convert: the source has no attribute of this name. State an expression"
        }
        return "convert: values of type \(before.type) cannot be converted to \(attribute.type). "
            + "State an expression"
    }

    /// Why a mapping cannot state a value of an attribute; nil where it can.
    private func refusal(of attribute: Attribute, _ name: String) -> String? {
        if name.contains(".") {
            return "elements of composite attributes cannot be stated one by one: state the whole "
                + "attribute, or leave it to inference"
        }
        if attribute.isTransient { return "\(name) is transient: no store holds its values" }
        if attribute.derivation != nil {
            return "\(name) is derived: Core Data computes it when it saves an object"
        }
        return nil
    }

    /// What of an expression cannot be computed row by row; nil where all can.
    private func unsupported(_ expression: MappingExpression, from entity: String?) -> String? {
        let value = ComputedValue(expression, of: entity, in: source)
        guard value.tree == nil else { return nil }
        let calls = ExpressionInspection(value.expression).calls
        if let call = calls.first(where: { $0.receiver != .variable(PolicyReceiver.name) }) {
            return "FUNCTION(…, \"\(call.selector)\") is not supported: an expression can call "
                + "only methods of $entityPolicy, and stringByAppendingString: of a text"
        }
        if calls.isEmpty, value.readsObjects {
            return
                "\(expression.text) needs an object itself: only values of its keys are supported"
        }
        let paths = value.inputs.filter { keys in
            entity.map { ComputedValue.isCollection(keys, of: $0, in: source) } ?? false
        }
        return paths.first.map { keys in
            "$source.\(keys.joined(separator: ".")) leads to several objects. A method gets single "
                + "values: after a to-many relationship of the source object itself, use @count, "
                + "@sum, @min, @max or @avg"
        }
    }

    private static func managerCall(in expression: MappingExpression) -> String? {
        ExpressionInspection(expression).calls.first {
            $0.receiver == .variable(ManagerCall.receiver)
        }?.selector
    }

    // MARK: - Relationships

    private mutating func checkLinks(
        _ property: PropertyMappingDefinition, of mapping: EntityMappingDefinition,
        _ entity: String
    ) {
        guard let found = destination.relationship(property.destination, of: entity) else {
            guard destination.attribute(property.destination, of: entity) == nil else {
                return add(mapping, "it is an attribute: write it under attributes", at: property)
            }
            let names = destination.allRelationships(of: entity).map(\.relationship.name)
            return add(
                mapping,
                Self.unknown("relationship", property.destination, in: entity, names),
                at: property)
        }
        if case .converted = property.value {
            return add(mapping, "convert is for attributes: links have no types", at: property)
        }
        guard case .expression(let expression) = property.value, expression != .null else { return }
        guard let call = ManagerCall(expression) else {
            if case .call(.variable(PolicyReceiver.name), _, _) = expression { return }
            return add(
                mapping,
                "\(expression.text) gives no destination objects: write the path to the source "
                    + "objects, and the entity mapping that made the objects of them", at: property)
        }
        var typer = ExpressionTyper(model: source, entity: mapping.source)
        let kind = typer.kind(of: call.instances)
        for mistake in typer.mistakes { add(mapping, mistake, at: property) }
        guard typer.mistakes.isEmpty else { return }
        if let text = AttemptCheck.mistake(in: expression, of: nil) {
            return add(mapping, text, at: property)
        }
        switch kind {
        case .object, .collection(.object), .unknown: break
        default:
            return add(
                mapping, "\(call.instances.text) gives \(kind.noun) instead of objects",
                at: property)
        }
        if case .entityMapping(let name, _) = call {
            checkMapping(
                name, property, mapping, target: found.relationship.destination,
                instances: kind.entity)
        }
    }

    /// - Parameters:
    ///   - name: of an entity mapping that a relationship names.
    ///   - property: the relationship.
    ///   - mapping: that has it.
    ///   - target: the relationship's destination.
    ///   - instances: the entity of the source objects; nil where it is not known.
    private mutating func checkMapping(
        _ name: String, _ property: PropertyMappingDefinition,
        _ mapping: EntityMappingDefinition, target: String, instances: String?
    ) {
        let named = definition.entityMappings.first { $0.effectiveName == name }
        guard let named else {
            let names = definition.entityMappings.map(\.effectiveName)
            let inferred = source.numberedEntities.first { entity in
                destination.numberedEntities.contains { name == "\(entity.name)To\($0.name)" }
            }
            let hint =
                inferred.map { "It is inferred: name it by a line - entity: \($0.name)" }
                ?? NameSuggestion.hint(name, names, noun: "entity mappings")
            return add(mapping, "there is no entity mapping \(name). \(hint)", at: property)
        }
        let isRight = named.destination.map { destination.isKind($0, of: target) } ?? false
        guard isRight else {
            let made = named.destination.map { "objects of \($0)" } ?? "no objects"
            return add(
                mapping,
                "entity mapping \(name) makes \(made), and the relationship leads to \(target)",
                at: property)
        }
        guard let from = named.source, let instances,
            !source.isKind(from, of: instances), !source.isKind(instances, of: from)
        else { return }
        add(
            mapping,
            "entity mapping \(name) takes objects of \(from), and the links lead to objects of "
                + instances, at: property)
    }

    // MARK: - What cannot be run

    private mutating func checkPasses() {
        var filters: [String: Set<MappingPredicate>] = [:]
        for mapping in definition.entityMappings {
            guard let entity = mapping.source, let filter = mapping.filter else { continue }
            filters[entity, default: []].insert(filter)
            if filters[entity]?.count == Mapping.filterLimit + 1 {
                add(
                    inFilterOf: mapping,
                    "\(entity) has more than \(Mapping.filterLimit) different filters")
            }
        }
    }

    /// Why a constant cannot be the value of an attribute; nil where it can, and for other
    /// expressions.
    private static func refusal(
        _ expression: MappingExpression, as type: AttributeType
    ) -> String? {
        if case .attempt(_, let other) = expression { return refusal(other, as: type) }
        guard case .constant(let constant) = expression else { return nil }
        switch (constant, type) {
        case (.real(let number), _) where !number.isFinite,
            (.date(let number), _) where !number.isFinite:
            return "the number is not finite"
        case (.decimal(let text), _) where Double(text)?.isFinite != true:
            return "the decimal number is too large"
        case (.real(let number), .integer16), (.real(let number), .integer32),
            (.real(let number), .integer64):
            return "\(number) is not a whole number"
        case (.integer(let number), .boolean) where number != 0 && number != 1:
            return "\(number) is neither YES nor NO"
        case (.real, .boolean): return "a boolean attribute holds YES or NO"
        case (.text(let text), _) where text.unicodeScalars.contains("\0"):
            return "the text contains a NUL"
        default: break
        }
        guard case .integer(let number) = constant, let range = type.integerRange,
            !range.contains(number)
        else { return nil }
        return
            "\(number) does not fit the type \(type) (\(range.lowerBound) to \(range.upperBound))"
    }
}
