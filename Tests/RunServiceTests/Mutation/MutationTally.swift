/// What became of a fault.
enum FaultVerdict {
    /// There was nothing to spoil, or what was spoiled means the same.
    case harmless
    /// Validation found differences.
    case differs
    /// A step before validation refused it.
    case refused(String)
    /// A result was published, or found equal.
    case missed
}

/// Counts what became of faults, by the stage that they were put into and by their kind.
struct MutationTally: Sendable {
    private struct Count: Sendable {
        var caught = 0
        var all = 0
    }

    private var counts: [String: [String: Count]] = [:]
    private(set) var misses: [String] = []
    private(set) var refusals: [String: Int] = [:]

    /// Takes in one fault; whether it was a real one.
    @discardableResult mutating func add(
        _ verdict: FaultVerdict, stage: String, kind: String, place: String
    ) -> Bool {
        var count = counts[stage]?[kind] ?? Count()
        defer { counts[stage, default: [:]][kind] = count }
        switch verdict {
        case .harmless: return false
        case .differs: count.caught += 1
        case .refused(let reason):
            count.caught += 1
            refusals[reason, default: 0] += 1
        case .missed: misses.append("\(stage): \(kind) in \(place)")
        }
        count.all += 1
        return true
    }

    mutating func add(_ other: MutationTally) {
        for (stage, kinds) in other.counts {
            for (kind, count) in kinds {
                counts[stage, default: [:]][kind, default: Count()].caught += count.caught
                counts[stage, default: [:]][kind, default: Count()].all += count.all
            }
        }
        misses += other.misses
        refusals.merge(other.refusals) { $0 + $1 }
    }

    /// Faults that were put in, all stages together.
    var total: Int { counts.values.flatMap(\.values).reduce(0) { $0 + $1.all } }

    /// Faults that were put into one stage.
    func total(_ stage: String) -> Int { (counts[stage] ?? [:]).values.reduce(0) { $0 + $1.all } }

    /// Kinds of which no fault could be put in, by stage.
    var unused: [String] {
        counts.flatMap { stage, kinds in
            kinds.filter { $0.value.all == 0 }.map { "\(stage): \($0.key)" }
        }.sorted()
    }

    /// All figures in one line.
    var line: String {
        let stages = counts.sorted { $0.key < $1.key }.map { stage, kinds in
            let caught = kinds.values.reduce(0) { $0 + $1.caught }
            let list = kinds.filter { $0.value.all > 0 }.sorted { $0.key < $1.key }
                .map { "\($0.key) \($0.value.caught)/\($0.value.all)" }
            return "\(stage) \(caught) of \(total(stage)) (\(list.joined(separator: ", ")))"
        }
        let refused = refusals.values.reduce(0, +)
        return "faults caught: \(total - misses.count) of \(total), \(refused) of them before "
            + "validation; " + stages.joined(separator: "; ")
    }
}
