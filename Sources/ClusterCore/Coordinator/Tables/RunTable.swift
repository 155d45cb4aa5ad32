/// The runs that are here, and which of them have not ended.
struct RunTable: Sendable {
    private var runs = Slab<RunProgress>()
    private var indexes: [String: Int] = [:]
    /// Runs that were opened and have not ended, in the order of their arrival.
    private(set) var open: [Int] = []

    /// A run, changed where it lies.
    subscript(index: Int) -> RunProgress? {
        @inline(__always) _read { yield runs[index] }
        @inline(__always) _modify { yield &runs[index] }
    }

    /// The indexes, ascending; O(n log n).
    var keys: [Int] { runs.keys }

    /// The runs in the order of their indexes; O(n log n).
    var values: [RunProgress] { runs.values }

    /// The index of a run.
    func index(of name: String) -> Int? { indexes[name] }

    /// Enters a run, which is not open by that.
    mutating func enter(_ run: RunProgress, at index: Int) {
        runs[index] = run
        indexes[run.name] = index
    }

    /// Forgets a run.
    mutating func remove(_ index: Int) {
        if let name = runs[index]?.name { indexes[name] = nil }
        runs[index] = nil
    }

    /// Puts a run behind the open ones, unless it is one of them.
    mutating func join(_ index: Int) {
        if !open.contains(index) { open.append(index) }
    }

    /// Takes a run from the open ones.
    mutating func leave(_ index: Int) { open.removeAll { $0 == index } }
}
