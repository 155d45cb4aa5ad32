/// What hashes rest on that no known store confirms (version-hash page, last part).
extension VersionHashes {
    /// Reasons by entity; what an ancestor has counts for its sub-entities too.
    static func unconfirmedReasons(_ model: Model) -> [String: [String]] {
        let own = model.entities.mapValues(reasons)
        var result: [String: [String]] = [:]
        for name in model.entities.keys {
            let all = model.ancestry(of: name).reversed().flatMap { own[$0.name] ?? [] }
            if !all.isEmpty { result[name] = all }
        }
        return result
    }

    private static func reasons(_ entity: Entity) -> [String] {
        var reasons: [String] = []
        if !isASCII(entity.name) { reasons.append("entity \(entity.name): a non-ASCII name") }
        if entity.uniquenessConstraints.count > 1 {
            reasons.append("entity \(entity.name): several uniqueness constraints")
        }
        for attribute in entity.attributes where !attribute.isTransient {
            let path = "attribute \(entity.name).\(attribute.name)"
            if attribute.type == .composite { reasons.append("\(path): composite") }
            if attribute.isReadOnly, attribute.derivation == nil {
                reasons.append("\(path): read-only")
            }
            if !isASCII(attribute.name) { reasons.append("\(path): a non-ASCII name") }
            if let derivation = attribute.derivation, !isConfirmed(derivation) {
                reasons.append("\(path): derived by another operator than @count")
            }
        }
        for relationship in entity.relationships where !relationship.isTransient {
            let path = "relationship \(entity.name).\(relationship.name)"
            let names = [relationship.name, relationship.destination, relationship.inverse ?? ""]
            if relationship.isReadOnly { reasons.append("\(path): read-only") }
            if !names.allSatisfy(isASCII) { reasons.append("\(path): a non-ASCII name") }
        }
        return reasons
    }

    /// Whether a derivation is a plain key path or the count of one, without a filter.
    private static func isConfirmed(_ derivation: Derivation) -> Bool {
        guard derivation.filter == nil, isASCII(derivation.expression) else { return false }
        var path = Substring(derivation.hashedExpression)
        if path.hasPrefix("count:("), path.hasSuffix(")") { path = path.dropFirst(7).dropLast() }
        return !path.isEmpty
            && path.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
    }

    private static func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }
}
