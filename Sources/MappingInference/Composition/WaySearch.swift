package import ManagedObjectModel

/// Looks for the way through the versions of a bundle that loses least.
package struct WaySearch {
    /// A version of the bundle.
    package struct Version {
        package let name: String
        package let model: Model

        package init(name: String, model: Model) {
            self.name = name
            self.model = model
        }
    }

    /// A way to the last version.
    package struct Way: Hashable, Sendable {
        /// Places of the versions in between, in their order; none for going straight.
        package var stops: [Int]
        /// What is lost on the way, as the stores' version calls it: `Entity` or `Entity.property`.
        package var losses: [String]
    }

    fileprivate struct Candidate {
        let stops: [Int]
        let kept: Set<Survivors.Place>
    }

    private let versions: [Version]
    private let step: (Int, Int) -> Inference?
    /// Of each version, the ways that no other one beats.
    private var candidates: [[Candidate]]
    private var made: [[Int]: Inference?] = [:]

    /// A search for the ways to the last of some versions.
    ///
    /// - Parameters:
    ///   - versions: in the order of the bundle; the last one is the destination.
    ///   - stops: places of the versions that a way may go through.
    ///   - step: the mapping from one version to a later one; nil where there is none.
    /// - Complexity: O(versions × stops) steps. Of each version `candidateLimit` ways are followed;
    ///   only where more of them keep something that no other does, a better one can be missed.
    package init(
        _ versions: [Version], through stops: Set<Int>, step: @escaping (Int, Int) -> Inference?
    ) {
        self.versions = versions
        self.step = step
        candidates = Array(repeating: [], count: versions.count)
        guard let last = versions.indices.last else { return }
        candidates[last] = [Candidate(stops: [], kept: Survivors.all(of: versions[last].model))]
        for place in versions.indices.dropLast().reversed() {
            candidates[place] = candidates(from: place, stops: stops, last: last)
        }
    }

    /// The best ways of stores of a version, the best first: those that lose least, of these the
    /// shortest, and of these the one through the earliest versions.
    ///
    /// No way is left out that loses less than another one of at most its length.
    package func ways(from place: Int) -> [Way] {
        guard candidates.indices.contains(place) else { return [] }
        let all = Survivors.all(of: versions[place].model)
        return candidates[place].map { candidate in
            Way(
                stops: candidate.stops,
                losses: all.subtracting(candidate.kept).sorted().map(\.name))
        }.sorted { left, right in
            if left.losses.count != right.losses.count {
                return left.losses.count < right.losses.count
            }
            if left.stops.count != right.stops.count { return left.stops.count < right.stops.count }
            return left.stops.lexicographicallyPrecedes(right.stops)
        }
    }

    private mutating func candidates(
        from place: Int, stops: Set<Int>, last: Int
    ) -> [Candidate] {
        var found: [Candidate] = []
        for next in (place + 1)...last where next == last || stops.contains(next) {
            guard !candidates[next].isEmpty, let inference = inference(place, next) else {
                continue
            }
            let model = versions[place].model
            let survivors = Survivors(of: model, inference.mapping)
            let all = Survivors.all(of: model)
            for later in candidates[next] {
                let kept = Survivors.completed(survivors.places(arrivingAt: later.kept), of: model)
                    .intersection(all)
                let way = Candidate(
                    stops: next == last ? [] : [next] + later.stops, kept: kept)
                guard !found.contains(where: { $0.beats(way) }) else { continue }
                found.removeAll { way.beats($0) }
                found.append(way)
            }
        }
        guard found.count > Self.candidateLimit else { return found }
        let best = found.sorted { left, right in
            (right.kept.count, left.stops.count) < (left.kept.count, right.stops.count)
        }
        return Array(best.prefix(Self.candidateLimit))
    }

    /// More than all ways through six versions.
    private static let candidateLimit = 128

    private mutating func inference(_ place: Int, _ next: Int) -> Inference? {
        if let known = made[[place, next]] { return known }
        let inference = step(place, next)
        made[[place, next]] = .some(inference)
        return inference
    }
}

extension WaySearch.Candidate {
    /// Whether it keeps all that another one keeps, and is no longer.
    fileprivate func beats(_ other: WaySearch.Candidate) -> Bool {
        guard kept.isSuperset(of: other.kept), stops.count <= other.stops.count else {
            return false
        }
        return kept != other.kept || stops.count < other.stops.count
            || !other.stops.lexicographicallyPrecedes(stops)
    }
}
