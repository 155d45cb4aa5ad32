package import DurableFiles
package import MappingModel

/// What is done about something that a migration would lose.
package enum LossPolicy: Hashable, Sendable, Codable {
    /// It is counted and reported.
    case report
    /// A store that would lose something fails before anything is written, unless one of these
    /// patterns fits each name: `Entity.property`, `Entity` or `history`, with `*` for any
    /// characters.
    case refuse(accepted: [String])

    /// Whether losses of a name are refused.
    package func refuses(_ name: String) -> Bool {
        switch self {
        case .report: false
        case .refuse(let accepted): !accepted.contains { Self.fits($0, name) }
        }
    }

    /// The patterns that fit none of these names: most likely they are mistyped.
    package func unused(among names: some Sequence<String>) -> [String] {
        guard case .refuse(let accepted) = self else { return [] }
        return accepted.filter { pattern in !names.contains { Self.fits(pattern, $0) } }
    }

    /// Whether something may be refused.
    package var mayRefuse: Bool { self != .report }

    private static func fits(_ pattern: String, _ name: String) -> Bool {
        let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
        guard parts.count > 1, let first = parts.first, let last = parts.last else {
            return pattern == name
        }
        guard name.hasPrefix(first), name.hasSuffix(last), name.count >= first.count + last.count
        else { return false }
        var rest = name.dropFirst(first.count).dropLast(last.count)
        for part in parts.dropFirst().dropLast() {
            guard
                let found = part.isEmpty
                    ? rest.startIndex..<rest.startIndex
                    : rest.firstRange(of: part)
            else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }
}

extension LossPolicy {
    /// Refuses losses of a store that the policy does not accept.
    ///
    /// - Parameters:
    ///   - losses: what its result would lack.
    ///   - store: the original.
    /// - Throws: `EngineError.losses`.
    package func check(_ losses: [Loss], of store: FilePath) throws(EngineError) {
        let refused = losses.filter { refuses($0.subject.name) }
        guard !refused.isEmpty else { return }
        let isHistory = refused.contains { $0.subject == .history }
        throw .losses(
            "\(store): the result would lack \(Loss.list(refused)). Nothing was written. Accept "
                + "these losses, or choose a model that keeps the data"
                + (isHistory ? " and keep history" : ""))
    }
}
