import ManagedObjectModel
import MappingExpressions

/// Key paths and their collection operators.
extension ExpressionEvaluator {
    /// The value behind keys.
    func follow(
        _ keys: ArraySlice<String>, from start: Value
    ) throws(ExpressionError) -> Value {
        var value = start
        var rest = keys
        while let key = rest.popFirst() {
            if value == .null { return .null }
            if key.hasPrefix("@") { return try apply(key, rest, to: value) }
            value = try get(key, of: value)
        }
        return value
    }

    /// One key of a value; of a collection, those of its members.
    private func get(_ key: String, of value: Value) throws(ExpressionError) -> Value {
        if key == "self" { return value }
        switch value {
        case .null: return .null
        case .object(let object): return try objects.value(forKey: key, of: object)
        case .scalar(let scalar):
            throw ExpressionError(.evaluation, "\(scalar.kindName) has no key \(key)")
        case .collection(let members, let kind):
            var found: [Value] = []
            for member in members {
                let one = try get(key, of: member)
                if one != .null { found.append(one) }
            }
            return .collection(kind == .array ? found : ValueComparison.distinct(found), kind)
        }
    }

    /// A collection operator with the keys behind it.
    private func apply(
        _ name: String, _ keys: ArraySlice<String>, to value: Value
    ) throws(ExpressionError) -> Value {
        guard case .collection(let members, let kind) = value else {
            throw ExpressionError(.evaluation, "\(name) needs a collection")
        }
        if name == "@count" {
            guard keys.isEmpty else {
                throw ExpressionError(.evaluation, "no key may follow @count")
            }
            return .scalar(.integer(Int64(members.count)))
        }
        guard !keys.isEmpty else {
            throw ExpressionError(.evaluation, "a key must follow \(name)")
        }
        var found: [Value] = []
        for member in members {
            let one = try follow(keys, from: member)
            if one != .null { found.append(one) }
        }
        switch name {
        case "@sum": return try Aggregate.sum(found, name)
        // As documented for key-value coding, members without a value count as 0.
        case "@avg": return try Aggregate.average(found, of: members.count, name)
        case "@min": return try Aggregate.extreme(found, name) { $0 }
        case "@max": return try Aggregate.extreme(found, name) { !$0 }
        case "@unionOfObjects": return .collection(found, kind == .set ? .set : .array)
        case "@distinctUnionOfObjects":
            return .collection(ValueComparison.distinct(found), kind == .set ? .set : .array)
        case "@unionOfArrays": return .array(try flattened(found, name))
        case "@distinctUnionOfArrays":
            return .array(ValueComparison.distinct(try flattened(found, name)))
        case "@unionOfSets", "@distinctUnionOfSets":
            return .set(ValueComparison.distinct(try flattened(found, name)))
        default: throw ExpressionError(.unknownName, "unknown collection operator \(name)")
        }
    }

    /// The members of collections, one after the other.
    private func flattened(
        _ collections: [Value], _ name: String
    ) throws(ExpressionError) -> [Value] {
        var members: [Value] = []
        for collection in collections {
            guard case .collection(let own, _) = collection else {
                throw ExpressionError(.evaluation, "\(name) needs collections within a collection")
            }
            members += own.filter { $0 != .null }
        }
        return members
    }
}
