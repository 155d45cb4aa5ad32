/// The runs that are here, and which of them have not ended.
package struct RunTable: Sendable {
    private var runs = Slab<RunProgress>()
    private var indexes: [String: Int] = [:]
    /// Runs that were opened and have not ended, in the order of their arrival.
    package private(set) var open: [Int] = []

    package init() {
    }

    /// A run, changed where it lies.
    package subscript(index: Int) -> RunProgress? {
        @inline(__always) _read { yield runs[index] }
        @inline(__always) _modify { yield &runs[index] }
    }

    /// The indexes, ascending; O(n log n).
    package var keys: [Int] { runs.keys }

    /// The runs in the order of their indexes; O(n log n).
    package var values: [RunProgress] { runs.values }

    /// The index of a run.
    package func index(of name: String) -> Int? { indexes[name] }

    /// Enters a run, which is not open by that.
    package mutating func enter(_ run: RunProgress, at index: Int) {
        runs[index] = run
        indexes[run.name] = index
    }

    /// Forgets a run.
    package mutating func remove(_ index: Int) {
        if let name = runs[index]?.name { indexes[name] = nil }
        runs[index] = nil
    }

    /// Puts a run behind the open ones, unless it is one of them.
    package mutating func join(_ index: Int) {
        if !open.contains(index) { open.append(index) }
    }

    /// Takes a run from the open ones.
    package mutating func leave(_ index: Int) { open.removeAll { $0 == index } }
}
