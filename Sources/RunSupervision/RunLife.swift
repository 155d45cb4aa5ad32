import ClusterVocabulary

/// One run in memory: its phase, and how far its stores were read from the ledger.
struct RunLife: Sendable {
    var phase = RunLifePhase.forgotten
    var defersSwap: Bool
    /// Why there is too little space for it; nil where there is enough.
    var shortage: String?
    /// Numbers of the ends that are being carried out.
    var ends: Set<Int> = []
    var feed = StoreFeed()
    /// Whether the space for it is being looked at.
    var isLookedAt = false

    init(_ opening: RunOpening) {
        defersSwap = opening.defersSwap
        shortage = opening.shortage
    }

    /// Whether nothing is done for it.
    var isIdle: Bool { feed.isIdle && ends.isEmpty && shortage == nil && !isLookedAt }
}

/// Which stores of a run the machine has, and where the ledger is read next.
struct StoreFeed: Sendable {
    /// Stores that were offered and have not ended.
    private(set) var inside: Set<Int> = []
    /// The number behind which the ledger is read next.
    private(set) var cursor: Int?
    /// Whether nothing lies behind the cursor.
    private(set) var isExhausted = false
    /// How often it was read from the beginning: where an earlier reading stopped does not matter
    /// any more.
    private(set) var round = 0
    /// Whether its next stores are being read, or are to be read after a pause.
    var isReading = false
    /// Validated stores whose swap was requested.
    private(set) var swaps: [Int] = []
    /// Readings under way, and a count of what happened, by which their age is told.
    private var readings = 0
    private var moment = 0
    /// Stores that left while something was read, with the moment.
    private var left: [Int: Int] = [:]

    var isIdle: Bool { !isReading && readings == 0 && inside.isEmpty && swaps.isEmpty }

    /// Whether nothing of the run is left to be offered.
    var isDry: Bool { isExhausted && swaps.isEmpty }

    /// Begins a reading of stores.
    ///
    /// - Returns: its moment; what it finds of a store that leaves later is out of date.
    mutating func beginReading() -> Int {
        readings += 1
        moment += 1
        return moment
    }

    mutating func endReading() {
        readings = max(0, readings - 1)
        if readings == 0 { left = [:] }
    }

    /// Lets a store enter that a reading found.
    ///
    /// - Returns: false where the machine has it, or where it has left since the reading began.
    mutating func enter(_ number: Int, reading: Int) -> Bool {
        if inside.contains(number) { return false }
        if let moment = left[number], moment >= reading { return false }
        inside.insert(number)
        return true
    }

    /// A store has left the machine.
    ///
    /// - Returns: false where it was not there.
    mutating func leave(_ number: Int) -> Bool {
        moment += 1
        if readings > 0 { left[number] = moment }
        return inside.remove(number) != nil
    }

    /// Takes where a reading stopped, unless the run is read from the beginning since.
    mutating func advance(to cursor: Int?, isLast: Bool, round: Int) {
        guard round == self.round else { return }
        self.cursor = cursor
        isExhausted = isLast
    }

    /// Reads from the beginning again, because stores wait that had ended before.
    mutating func rewind() {
        cursor = nil
        isExhausted = false
        round += 1
    }

    /// Adds stores whose swap is requested.
    ///
    /// - Returns: how many were not known.
    mutating func add(swaps numbers: [Int]) -> Int {
        let known = Set(swaps).union(inside)
        let fresh = numbers.filter { !known.contains($0) }
        swaps += fresh
        return fresh.count
    }

    /// Removes swaps that were read.
    mutating func removeSwaps(_ count: Int) { swaps.removeFirst(min(count, swaps.count)) }
}
