import Jobs

/// The stores in hand, and what workers hold of stores that are not here yet.
struct StoreTable: Sendable {
    /// An attempt that a worker says it holds.
    struct Parked: Hashable, Sendable {
        let worker: Int
        let attempt: String
        let epoch: Int
    }

    private var stores = Slab<StoreProgress>()
    private var indexes: [StoreKey: Int] = [:]
    /// Attempts that workers hold of stores that are not here yet or are being prepared.
    private var parked: [StoreKey: [Parked]] = [:]

    /// A store, changed where it lies.
    subscript(index: Int) -> StoreProgress? {
        @inline(__always) _read { yield stores[index] }
        @inline(__always) _modify { yield &stores[index] }
    }

    /// The indexes, ascending; O(n log n).
    var keys: [Int] { stores.keys }

    /// The stores in the order of their indexes; O(n log n).
    var values: [StoreProgress] { stores.values }

    /// The index of a store.
    func index(of key: StoreKey) -> Int? { indexes[key] }

    /// The name of a store by its index.
    func key(_ index: Int) -> StoreKey? { stores[index]?.key }

    /// Enters a store.
    mutating func enter(_ store: StoreProgress, at index: Int) {
        indexes[store.key] = index
        stores[index] = store
    }

    /// Forgets a store.
    mutating func remove(_ index: Int) {
        if let key = stores[index]?.key { indexes[key] = nil }
        stores[index] = nil
    }
}

// MARK: - Attempts of stores to come

extension StoreTable {
    /// Whether no attempt of a store is kept.
    func isUnknown(_ key: StoreKey) -> Bool { parked[key] == nil }

    /// Keeps an attempt until its store is here, once.
    mutating func park(_ attempt: Parked, of key: StoreKey) {
        if parked[key]?.contains(attempt) != true { parked[key, default: []].append(attempt) }
    }

    /// Keeps an attempt until its store is here, in place of what was kept of it before.
    mutating func parkAgain(_ attempt: Parked, of key: StoreKey) {
        parked[key, default: []].removeAll { $0.attempt == attempt.attempt }
        parked[key, default: []].append(attempt)
    }

    /// Takes out what was kept of a store.
    mutating func unpark(_ key: StoreKey) -> [Parked] { parked.removeValue(forKey: key) ?? [] }

    /// The stores of a run of which attempts are kept, in their order.
    func parkedKeys(of run: String) -> [StoreKey] {
        parked.keys.filter { $0.run == run }.sorted()
    }
}
