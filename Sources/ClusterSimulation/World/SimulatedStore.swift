import Jobs

/// A chunk that fails whatever worker takes it, until its cause is repaired.
struct PoisonedChunk {
    let work: Work
    /// `crashed` ends the slot's process; other codes are reported by it.
    let code: FailureCause
}

/// A store: the original, the result that is being built, and what clients would open.
struct SimulatedStore {
    let number: Int
    /// The original's rows, ascending by key.
    let rows: [SimulatedRow]
    /// Rows of each copy chunk, as indexes; one for a store that is one job.
    let chunks: [Range<Int>]
    /// Whether all its stages are one job.
    let isWhole: Bool
    /// Chunks of each copy step: neighbours whose shards are merged in one go.
    let steps: [Range<Int>]
    var poison: [PoisonedChunk] = []
    /// The result so far; nil before prepare and after the swap.
    var destination: SimulatedDestination?
    /// What a client reads after the swap; nil while that is the original.
    var live: [SimulatedResultRow]?
    /// Times that the original was exchanged.
    var swaps = 0
    /// Whether a bit of the destination was flipped: no check notices a flip after the validation.
    var isSpoiled = false
    /// Whether its plan has a link stage.
    var hasLinks = true
    /// Whether the store has the destination's version already.
    var needsNothing = false
    /// Whether the destination, as it is now, was validated.
    var isValidated = false

    var bytes: Int64 { Int64(rows.count) * 1_000_000 }

    /// The poison of a job, if it has any.
    func poison(of work: Work) -> FailureCause? { poison.first { $0.work == work }?.code }

    /// A store with random rows, cut into random chunks.
    static func random(
        number: Int, isWhole: Bool, using generator: inout SimulationGenerator
    ) -> SimulatedStore {
        let count = isWhole ? generator.number(1...6) : generator.number(3...24)
        var rows: [SimulatedRow] = []
        var key = 0
        for _ in 0..<count {
            key += generator.number(1...3)
            rows.append(SimulatedRow(key: key, value: generator.next(), target: nil))
        }
        let hasLinks = isWhole || generator.happens(perMille: 800)
        for index in rows.indices where hasLinks && generator.happens(perMille: 600) {
            let target = rows[generator.number(0...count - 1)].key
            rows[index] = SimulatedRow(
                key: rows[index].key, value: rows[index].value, target: target)
        }
        let wanted = isWhole ? 1 : generator.number(1...min(6, count))
        let stepCount = generator.number(1...wanted)
        var store = SimulatedStore(
            number: number, rows: rows, chunks: cut(count, into: wanted, using: &generator),
            isWhole: isWhole, steps: cut(wanted, into: stepCount, using: &generator))
        store.hasLinks = hasLinks
        store.needsNothing = !isWhole && generator.happens(perMille: 50)
        return store
    }

    /// Cuts rows into chunks of random sizes, none empty.
    private static func cut(
        _ rows: Int, into wanted: Int, using generator: inout SimulationGenerator
    ) -> [Range<Int>] {
        var chunks: [Range<Int>] = []
        var start = 0
        for chunk in 0..<wanted {
            let left = wanted - chunk - 1
            let end = left == 0 ? rows : generator.number(start + 1...rows - left)
            chunks.append(start..<end)
            start = end
        }
        return chunks
    }
}

/// A result that is being built.
struct SimulatedDestination {
    var rows: [SimulatedResultRow] = []
    /// Steps of the plan that it holds.
    var steps = 0
    var isIndexed = false
}
