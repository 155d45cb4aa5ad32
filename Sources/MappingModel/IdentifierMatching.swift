/// Something that keeps its identity over a rename through a renaming identifier.
package struct Identified: Hashable {
    /// The name.
    package let name: String
    /// The renaming identifier, or the name where there is none.
    package let identifier: String

    /// Models often repeat the name as the identifier, so nil and the name mean the same.
    package init(name: String, identifier: String?) {
        self.name = name
        self.identifier = identifier ?? name
    }

    /// Whether the identifier says more than the name.
    package var isExplicit: Bool { identifier != name }
}

/// Pairs of things on the two sides of a migration, found by identifier and by name.
///
/// First identifiers on both sides are compared, then destination identifiers with source
/// names, then names. An explicit identifier claims before a name does, and nothing is
/// claimed twice.
package struct IdentifierMatching {
    /// A claim that more than one pair could fulfil.
    package struct Ambiguity: Hashable {
        package let identifier: String
        package let destinations: [String]
        package let sources: [String]
    }

    /// Source name by destination name.
    package private(set) var sources: [String: String] = [:]
    /// Claims that could not be decided.
    package private(set) var ambiguities: [Ambiguity] = []
    private var claimed: Set<String> = []
    /// Destinations that are part of an ambiguity and take no part in later comparisons.
    private var undecided: Set<String> = []

    /// Compares two lists, each without repeated names.
    ///
    /// - Complexity: O(n log n) unless many share one identifier.
    package init(destinations: [Identified], sources: [Identified]) {
        let byIdentifier = Dictionary(grouping: destinations, by: \.identifier)
        let sourcesByIdentifier = Dictionary(grouping: sources, by: \.identifier)
        for (identifier, group) in byIdentifier.sorted(by: { $0.key < $1.key }) {
            pair(identifier, group, sourcesByIdentifier[identifier] ?? [])
        }
        pairIdentifiersWithNames(byIdentifier, sources)
        let names = Set(sources.map(\.name))
        for destination in destinations
        where isOpen(destination) && names.contains(destination.name)
            && !claimed.contains(destination.name)
        {
            claim(destination.name, destination.name)
        }
    }

    private func isOpen(_ destination: Identified) -> Bool {
        sources[destination.name] == nil && !undecided.contains(destination.name)
    }

    private mutating func claim(_ destination: String, _ source: String) {
        sources[destination] = source
        claimed.insert(source)
    }

    private mutating func doubt(
        _ identifier: String, _ destinations: [Identified], _ sources: [Identified]
    ) {
        ambiguities.append(
            Ambiguity(
                identifier: identifier, destinations: destinations.map(\.name).sorted(),
                sources: sources.map(\.name).sorted()))
        undecided.formUnion(destinations.map(\.name))
        claimed.formUnion(sources.map(\.name))
    }

    /// Pairs those that share one identifier.
    private mutating func pair(
        _ identifier: String, _ destinations: [Identified], _ sources: [Identified]
    ) {
        // Same identifier and same name: renamed in an earlier version, and kept since.
        let kept = Set(destinations).intersection(sources).filter(\.isExplicit)
        for one in kept { claim(one.name, one.name) }
        let explicit = destinations.filter { $0.isExplicit && !kept.contains($0) }
        let explicitSources = sources.filter { $0.isExplicit && !kept.contains($0) }
        let plain = destinations.filter { !$0.isExplicit }
        var plainSources = sources.filter { !$0.isExplicit }

        if explicit.count == 1, explicitSources.count == 1 {
            claim(explicit[0].name, explicitSources[0].name)
        } else if explicit.count == 1, explicitSources.isEmpty, plainSources.count == 1 {
            claim(explicit[0].name, plainSources[0].name)
            plainSources = []
        } else if !explicit.isEmpty, !(explicitSources + plainSources).isEmpty {
            return doubt(identifier, explicit, explicitSources + plainSources)
        }
        guard let destination = plain.first else { return }
        let open = explicitSources.filter { !claimed.contains($0.name) }
        if let source = plainSources.first {
            claim(destination.name, source.name)
        } else if open.count == 1 {
            claim(destination.name, open[0].name)
        } else if open.count > 1 {
            doubt(identifier, [destination], open)
        }
    }

    private mutating func pairIdentifiersWithNames(
        _ byIdentifier: [String: [Identified]], _ sources: [Identified]
    ) {
        for source in sources where !claimed.contains(source.name) {
            let open = (byIdentifier[source.name] ?? []).filter(isOpen)
            let explicit = open.filter(\.isExplicit)
            if explicit.count > 1 {
                doubt(source.name, explicit, [source])
            } else if let destination = explicit.first ?? open.first {
                claim(destination.name, source.name)
            }
        }
    }
}
