import ManagedObjectModel

/// Indexes and uniqueness constraints.
extension XMLModelBuilder {
    /// One `fetchIndex` element.
    func fetchIndex(_ element: DocumentElement) throws(ModelError) -> FetchIndex {
        var index = FetchIndex(name: try element.required("name"), elements: [])
        for child in element.children(named: "fetchIndexElement") {
            index.elements.append(try fetchIndexElement(child))
        }
        let predicate = element.text("partialIndexPredicate")
        index.partialPredicate = predicate.map(PredicateParser.parse)
        return index
    }

    private func fetchIndexElement(
        _ element: DocumentElement
    ) throws(ModelError) -> FetchIndexElement {
        let target: FetchIndexTarget
        if let expression = element.text("expression") {
            target = Self.target(ofExpression: expression)
        } else {
            target = .property(try element.required("property"))
        }
        let type: FetchIndexElementType
        switch element.text("type") {
        case nil, "Binary": type = .binary
        case "RTree": type = .rTree
        case let word?:
            throw .unsupported("line \(element.line): unknown index element type \(word)")
        }
        let isAscending: Bool
        switch element.text("order") {
        case nil, "ascending": isAscending = true
        case "descending": isAscending = false
        case let word?:
            throw .unsupported("line \(element.line): unknown index order \(word)")
        }
        return FetchIndexElement(target, type: type, isAscending: isAscending)
    }

    /// Expressions whose column is known; others are kept by their text.
    private static func target(ofExpression text: String) -> FetchIndexTarget {
        switch text {
        case "entity": .entity
        case "self", "SELF", "objectID": .objectID
        default: .expression(text)
        }
    }

    /// Property names of each compound index that has any.
    func compoundIndexes(_ element: DocumentElement) throws(ModelError) -> [[String]] {
        var indexes: [[String]] = []
        for child in element.children(named: "compoundIndex") {
            indexes.append(try values(child, "index"))
        }
        return indexes.filter { !$0.isEmpty }
    }

    /// Attribute names of each uniqueness constraint that has any.
    func uniquenessConstraints(_ element: DocumentElement) throws(ModelError) -> [[String]] {
        var constraints: [[String]] = []
        for child in element.children(named: "uniquenessConstraint") {
            constraints.append(try values(child, "constraint"))
        }
        return constraints.filter { !$0.isEmpty }
    }

    private func values(
        _ element: DocumentElement, _ name: String
    ) throws(ModelError) -> [String] {
        var values: [String] = []
        for child in element.children(named: name) { values.append(try child.required("value")) }
        return values
    }

    /// Adds the fetch indexes that Xcode's compiler adds.
    ///
    /// A compound index yields one named after its properties. An attribute that is indexed, or
    /// the sole ascending element of a binary index, yields a full one named like the attribute,
    /// also where the index that holds it is partial. An index of that name is not doubled.
    static func addIndexesOfCompilation(_ entities: inout [Entity]) {
        let relationships = relationshipNames(entities)
        for position in entities.indices {
            let entity = entities[position]
            var names = Set(entity.fetchIndexes.map(\.name))
            var added: [FetchIndex] = []
            func add(_ name: String, _ properties: [String]) {
                guard names.insert(name).inserted else { return }
                added.append(
                    FetchIndex(
                        name: name, elements: properties.map { FetchIndexElement(.property($0)) }))
            }
            for properties in entity.compoundIndexes {
                add(properties.joined(separator: "_"), properties)
            }
            var single = Set(entity.attributes.filter(\.isIndexed).map(\.name))
            for index in entity.fetchIndexes where index.elements.count == 1 {
                guard case .property(let name) = index.elements[0].target,
                    index.elements[0].isAscending, index.elements[0].type == .binary,
                    !isRelationship(name, of: entity.name, relationships)
                else { continue }
                single.insert(name)
            }
            for name in single.sorted() { add(name, [name]) }
            entities[position].fetchIndexes += added
        }
    }

    /// Parent and relationship names of each entity.
    private typealias Relationships = [String: (parent: String?, names: Set<String>)]

    private static func relationshipNames(_ entities: [Entity]) -> Relationships {
        var result: Relationships = [:]
        for entity in entities {
            result[entity.name] = (entity.parent, Set(entity.relationships.map(\.name)))
        }
        return result
    }

    /// Whether the entity declares or inherits a relationship of that name.
    private static func isRelationship(
        _ name: String, of entity: String, _ relationships: Relationships
    ) -> Bool {
        var next: String? = entity
        // The parents have not been checked for cycles yet.
        for _ in 0...Model.depthLimit {
            guard let known = next.flatMap({ relationships[$0] }) else { return false }
            if known.names.contains(name) { return true }
            next = known.parent
        }
        return false
    }
}
