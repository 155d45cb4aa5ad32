package import ManagedObjectModel

/// What an expression reads of a source object and of the objects around it.
///
/// A tree of relationships with `$source` at its root. It is known before any object is read, so
/// that one query can read all of it.
package struct ObjectTree: Hashable, Sendable, Codable {
    /// An attribute, or an element of a composite one by its path.
    package struct Field: Hashable, Sendable, Codable {
        package let name: String
        package let type: AttributeType
    }

    /// A relationship, and what is read of the objects behind it.
    package struct Branch: Hashable, Sendable, Codable {
        package let name: String
        package let isToMany: Bool
        package let isOrdered: Bool
        package let tree: ObjectTree
    }

    package let entity: String
    /// The entity above all that the object's entity inherits from: keys are unique below it.
    package let root: String
    /// In the order of the expression; no two have one name.
    package let fields: [Field]
    /// In the order of the expression; no two have one name.
    package let branches: [Branch]

    /// Finds what an expression reads.
    ///
    /// - Parameters:
    ///   - expression: of names that the model has.
    ///   - entity: of `$source`.
    ///   - model: of the source.
    /// - Complexity: O(size of the expression × what it reads).
    package init(readBy expression: MappingExpression, of entity: String, in model: Model) {
        var reader = ObjectTreeReader(model: model, source: ObjectTreeReader.Node(entity))
        _ = reader.objects(of: expression)
        self = reader.source.tree(in: model)
    }

    fileprivate init(entity: String, root: String, fields: [Field], branches: [Branch]) {
        self.entity = entity
        self.root = root
        self.fields = fields
        self.branches = branches
    }
}

/// Follows an expression from object to object, and notes what it asks of them.
private struct ObjectTreeReader {
    /// Objects that one path of relationships leads to.
    final class Node {
        let entity: String
        private var fields: [ObjectTree.Field] = []
        private var branches: [(relationship: Relationship, node: Node)] = []

        init(_ entity: String) { self.entity = entity }

        func read(_ field: ObjectTree.Field) {
            if !fields.contains(field) { fields.append(field) }
        }

        /// The objects behind a relationship of these.
        func objects(behind relationship: Relationship) -> Node {
            if let known = branches.first(where: { $0.relationship.name == relationship.name }) {
                return known.node
            }
            let node = Node(relationship.destination)
            branches.append((relationship, node))
            return node
        }

        func tree(in model: Model) -> ObjectTree {
            ObjectTree(
                entity: entity, root: model.root(of: entity)?.name ?? entity, fields: fields,
                branches: branches.map { relationship, node in
                    // The order of a list that is its own inverse is that of neither side.
                    let owner = model.relationship(relationship.name, of: entity)?.owner.name
                    let isOrdered =
                        relationship.isOrdered
                        && model.inverse(of: relationship).map {
                            $0.relationship.name != relationship.name || $0.owner.name != owner
                        } ?? true
                    return ObjectTree.Branch(
                        name: relationship.name, isToMany: relationship.isToMany,
                        isOrdered: isOrdered, tree: node.tree(in: model))
                })
        }
    }

    let model: Model
    let source: Node
    private var variables: [String: [Node]] = [:]

    init(model: Model, source: Node) {
        self.model = model
        self.source = source
    }

    /// The objects that an expression gives, alone or as members of a collection; none for values.
    mutating func objects(of expression: MappingExpression) -> [Node] {
        switch expression {
        case .null, .constant: return []
        case .evaluatedObject: return [source]
        case .variable(let name): return variables[name] ?? (name == "source" ? [source] : [])
        case .keyPath(let start, let keys): return follow(keys[...], from: objects(of: start))
        case .function(_, let arguments), .list(let arguments):
            return all(arguments)
        case .cast(let value, _), .conversion(_, let value): return objects(of: value)
        case .attempt(let value, let other), .combination(_, let value, let other):
            return all([value, other])
        case .call(_, _, let arguments): return all(arguments)
        case .conditional(let predicate, let one, let other):
            read(predicate)
            return all([one, other])
        case .subquery(let collection, let variable, let predicate):
            let members = objects(of: collection)
            let outer = variables.updateValue(members, forKey: variable)
            read(predicate)
            variables[variable] = outer
            return members
        case .element(let collection, let index):
            if case .at(let place) = index { _ = objects(of: place) }
            return objects(of: collection)
        }
    }

    private mutating func all(_ expressions: [MappingExpression]) -> [Node] {
        var found: [Node] = []
        for expression in expressions { found += objects(of: expression) }
        return found
    }

    private mutating func read(_ predicate: MappingPredicate) {
        switch predicate {
        case .constant: break
        case .and(let parts), .or(let parts): for part in parts { read(part) }
        case .not(let part): read(part)
        case .comparison(let comparison): _ = all([comparison.left, comparison.right])
        }
    }

    private func follow(_ keys: ArraySlice<String>, from start: [Node]) -> [Node] {
        var nodes = start
        var rest = keys
        while let key = rest.popFirst() {
            // A collection operator works on what the keys behind it give for the same objects.
            if key.hasPrefix("@") || key == "self" { continue }
            nodes = nodes.compactMap { node in
                if let found = model.relationship(key, of: node.entity)?.relationship {
                    return node.objects(behind: found)
                }
                if let found = model.attribute(key, of: node.entity)?.attribute {
                    node.read(Self.field(found, rest))
                }
                return nil
            }
        }
        return nodes
    }

    /// An attribute, or the element of a composite one that further keys name.
    private static func field(
        _ attribute: Attribute, _ keys: ArraySlice<String>
    ) -> ObjectTree.Field {
        var (name, found) = (attribute.name, attribute)
        var rest = keys
        while found.type == .composite, let key = rest.popFirst(),
            let element = found.elements.first(where: { $0.name == key })
        {
            name += ".\(key)"
            found = element
        }
        return ObjectTree.Field(name: name, type: found.type)
    }
}
