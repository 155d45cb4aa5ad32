package import Jobs

/// The stores in hand, and what workers hold of stores that are not here yet.
package struct StoreTable: Sendable {
    /// An attempt that a worker says it holds.
    package struct Parked: Hashable, Sendable {
        package let worker: Int
        package let attempt: String
        package let epoch: Int

        package init(worker: Int, attempt: String, epoch: Int) {
            self.worker = worker
            self.attempt = attempt
            self.epoch = epoch
        }
    }

    private var stores = Slab<StoreProgress>()
    private var indexes: [StoreKey: Int] = [:]
    /// Attempts that workers hold of stores that are not here yet or are being prepared.
    private var parked: [StoreKey: [Parked]] = [:]

    package init() {}

    /// A store, changed where it lies.
    package subscript(index: Int) -> StoreProgress? {
        @inline(__always) _read { yield stores[index] }
        @inline(__always) _modify { yield &stores[index] }
    }

    /// The indexes, ascending; O(n log n).
    package var keys: [Int] { stores.keys }

    /// The stores in the order of their indexes; O(n log n).
    package var values: [StoreProgress] { stores.values }

    /// The index of a store.
    package func index(of key: StoreKey) -> Int? { indexes[key] }

    /// The name of a store by its index.
    package func key(_ index: Int) -> StoreKey? { stores[index]?.key }

    /// Enters a store.
    package mutating func enter(_ store: StoreProgress, at index: Int) {
        indexes[store.key] = index
        stores[index] = store
    }

    /// Forgets a store.
    package mutating func remove(_ index: Int) {
        if let key = stores[index]?.key { indexes[key] = nil }
        stores[index] = nil
    }
}

// MARK: - Attempts of stores to come

extension StoreTable {
    /// Whether no attempt of a store is kept.
    package func isUnknown(_ key: StoreKey) -> Bool { parked[key] == nil }

    /// Keeps an attempt until its store is here, once.
    package mutating func park(_ attempt: Parked, of key: StoreKey) {
        if parked[key]?.contains(attempt) != true { parked[key, default: []].append(attempt) }
    }

    /// Keeps an attempt until its store is here, in place of what was kept of it before.
    package mutating func parkAgain(_ attempt: Parked, of key: StoreKey) {
        parked[key, default: []].removeAll { $0.attempt == attempt.attempt }
        parked[key, default: []].append(attempt)
    }

    /// Takes out what was kept of a store.
    package mutating func unpark(_ key: StoreKey) -> [Parked] {
        parked.removeValue(forKey: key) ?? []
    }

    /// The stores of a run of which attempts are kept, in their order.
    package func parkedKeys(of run: String) -> [StoreKey] {
        parked.keys.filter { $0.run == run }.sorted()
    }
}
