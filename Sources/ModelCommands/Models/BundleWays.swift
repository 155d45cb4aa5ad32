import ManagedObjectModel
import MappingInference
import MappingModel
import MigrationPlanning
import MigrationPlans
import ModelFiles

/// Ways through the versions of a bundle to one of them.
struct BundleWays {
    private let target: LoadedModel
    private let reader: VersionReader
    private let options: PlanOptions
    private let cache = PlanningCache()

    /// Bundles with more versions are searched only through those that rename something or that a
    /// mapping file leads to.
    private static let searchLimit = 16

    init(_ target: LoadedModel, _ reader: VersionReader, _ options: PlanOptions) {
        self.target = target
        self.reader = reader
        self.options = options
    }

    // MARK: - Directed

    /// Stores go through the stops, but not back: those of a version go through the ones that come
    /// after it, in the bundle or among the stops; the last stop may be the destination.
    ///
    /// - Throws: `ModelError` for a version that cannot be read.
    func directed(_ stops: [ViaRoute.Stop]) throws(ModelError) -> VersionWays {
        var stops = stops
        var last: StepDirections?
        if stops.last?.version == reader.bundle.chosen { last = stops.removeLast().directions }
        var versions: [VersionWays.Version] = []
        for stop in stops {
            let read = try reader.result(stop.version).get()
            versions.append(
                VersionWays.Version(
                    name: read.name, model: read.model, hashes: read.hashes.entities,
                    directions: stop.directions))
        }
        let names = stops.map(\.version)
        let order = reader.bundle.names
        var ways: [String: [Int]] = [:]
        for (place, name) in order.enumerated() {
            guard let known = reader.version(name) else { continue }
            let first =
                names.lastIndex(of: name).map { $0 + 1 }
                ?? names.firstIndex { stop in (order.firstIndex(of: stop) ?? 0) > place }
                ?? names.count
            ways[known.hashes.digest] = Array(first..<names.count)
        }
        ways[target.hashes.digest] = []
        return VersionWays(
            versions, ways: ways, otherwise: Array(versions.indices), lastDirections: last)
    }

    private static func version(_ end: MappedWay.End) -> VersionWays.Version {
        VersionWays.Version(name: end.name, model: end.model, hashes: end.hashes.entities)
    }

    // MARK: - By mapping files

    /// Stores go from mapping file to mapping file; from a version that has none, to the next one
    /// that has, if that step can be inferred.
    ///
    /// A file for a version and the destination is a step of its own. Where several lead on from
    /// a version, the one to the latest version counts.
    func mapped() -> VersionWays {
        let ends = ends
        guard let last = ends.indices.last else { return VersionWays() }
        var next: [Int: Int] = [:]
        for from in ends.indices.dropLast() {
            for to in (from + 1)...last
            where options.mappings.contains(where: { $0.isFor(ends[from], ends[to]) }) {
                next[from] = to
            }
        }
        var ways: [String: [Int]] = [:]
        for place in ends.indices.dropLast() {
            var stops: [Int] = []
            var here = place
            while here < last {
                let start = (here + 1..<last).first { next[$0] != nil }
                if let further = next[here] {
                    here = further
                } else if let start, step(from: ends[here], to: ends[start]) != nil {
                    here = start
                } else {
                    break
                }
                if here < last { stops.append(here) }
            }
            ways[ends[place].hashes.digest] = stops
        }
        guard ways.values.contains(where: { !$0.isEmpty }) else { return VersionWays() }
        return VersionWays(ends.dropLast().map(Self.version), ways: ways)
    }

    // MARK: - Searched

    /// Of every older version, the way that loses least, of these the shortest.
    func best() -> VersionWays {
        let ends = ends
        let search = WaySearch(
            ends.map { WaySearch.Version(name: $0.name, model: $0.model) },
            through: stops(ends)
        ) {
            step(from: ends[$0], to: ends[$1])
        }
        var used: [Int] = []
        var ways: [String: [Int]] = [:]
        var notes: [String: [String]] = [:]
        for place in ends.indices.dropLast() {
            let compared = search.ways(from: place)
            let digest = ends[place].hashes.digest
            guard let way = compared.first else { continue }
            ways[digest] = way.stops.map { stop in
                if let found = used.firstIndex(of: stop) { return found }
                used.append(stop)
                return used.count - 1
            }
            notes[digest] = compared.prefix(Self.shownWays).map { other in
                Self.text(other, ends) + (other == way ? " (chosen)" : "")
            }
        }
        return VersionWays(
            used.map { Self.version(ends[$0]) }, ways: ways, compared: notes)
    }

    /// Every older version and the destination, in the order of the bundle.
    private var ends: [MappedWay.End] {
        let names = reader.bundle.names
        let limit = names.firstIndex(of: reader.bundle.chosen) ?? 0
        return names[..<limit].compactMap(reader.version).map {
            MappedWay.End(name: $0.name, model: $0.model, hashes: $0.hashes)
        } + [MappedWay.End(name: reader.bundle.chosen, model: target.model, hashes: target.hashes)]
    }

    /// Ways that a plan lists.
    private static let shownWays = 5
    /// Losses that are named.
    private static let shownLosses = 6

    private static func text(_ way: WaySearch.Way, _ ends: [MappedWay.End]) -> String {
        let through =
            way.stops.isEmpty
            ? "straight" : "through \(way.stops.map { ends[$0].name }.joined(separator: ", "))"
        guard !way.losses.isEmpty else { return "\(through): loses nothing" }
        var names = way.losses.prefix(shownLosses).joined(separator: ", ")
        if way.losses.count > shownLosses { names += " and \(way.losses.count - shownLosses) more" }
        return "\(through): loses \(names)"
    }

    /// Versions that a way may go through.
    private func stops(_ ends: [MappedWay.End]) -> Set<Int> {
        guard ends.count > Self.searchLimit, let last = ends.last else {
            return Set(ends.indices)
        }
        let destination = IntermediateRenameSearch.Version(name: last.name, model: last.model)
        return Set(
            ends.indices.filter { place in
                let one = IntermediateRenameSearch.Version(
                    name: ends[place].name, model: ends[place].model)
                let isMapped = options.mappings.contains { choice in
                    ends.indices.contains { choice.isFor(ends[$0], ends[place]) }
                }
                return isMapped || one.renames(beyond: destination)
            })
    }

    private func step(from: MappedWay.End, to: MappedWay.End) -> Inference? {
        do {
            return try MappedWay.step(from: from, to: to, options: options, cache: cache)
        } catch {
            return nil
        }
    }
}
