package import ClusterVocabulary

/// Attempts that have not ended, with the leases under which workers hold them.
///
/// A lease is of a *grant*: what a worker was given with one message.
package struct AttemptTable: Sendable {
    private var attempts: [String: AttemptState] = [:]
    package private(set) var grants: [Int: Grant] = [:]
    /// Attempts that take long, by the moment when they became so.
    package private(set) var slow = PriorityTable<String, Instant>()

    package init() {
    }

    package var count: Int { attempts.count }
    package var isEmpty: Bool { attempts.isEmpty }

    /// Every attempt by its name.
    package var all: [String: AttemptState] { attempts }

    /// An attempt by its name.
    package subscript(id: String) -> AttemptState? { attempts[id] }

    /// The attempts that have not ended of what a worker was given.
    package func held(_ grant: Int) -> [String] { grants[grant]?.attempts ?? [] }
}

// MARK: - Attempts

extension AttemptTable {
    /// Enters an attempt, behind the others of its grant.
    package mutating func enter(_ id: String, _ attempt: AttemptState) {
        attempts[id] = attempt
        grants[attempt.grant]?.attempts.append(id)
    }

    /// Forgets an attempt that has left its grant.
    package mutating func remove(_ id: String) { attempts[id] = nil }

    /// Writes down where an attempt stands.
    package mutating func setPhase(_ phase: AttemptPhase, of id: String) {
        attempts[id]?.phase = phase
    }

    /// Keeps what a worker reports of its progress.
    package mutating func report(_ id: String, rows: Int64, bytes: Int64) {
        attempts[id]?.rows = rows
        attempts[id]?.bytes = bytes
    }

    /// Gives an attempt that no worker has claimed, and its grant, to one.
    package mutating func claim(_ id: String, for worker: Int, named name: String) {
        guard let grant = attempts[id]?.grant else { return }
        attempts[id]?.worker = worker
        attempts[id]?.name = name
        grants[grant]?.worker = worker
    }

    /// Lets another place among the workers stand for an attempt's worker.
    package mutating func setWorker(_ worker: Int, of id: String) { attempts[id]?.worker = worker }
}

// MARK: - Leases

extension AttemptTable {
    /// Begins a lease without attempts.
    package mutating func beginLease(_ grant: Int, of worker: Int?, until end: Instant) {
        grants[grant] = Grant(worker: worker, attempts: [], deadline: end)
    }

    /// Puts the end of a lease off.
    package mutating func renewLease(_ grant: Int, until end: Instant) {
        grants[grant]?.deadline = end
    }

    /// Takes an attempt off its lease; a lease without attempts is over.
    ///
    /// - Returns: whether the lease is over by that.
    package mutating func leaveLease(_ id: String, _ grant: Int) -> Bool {
        grants[grant]?.attempts.removeAll { $0 == id }
        guard grants[grant]?.attempts.isEmpty == true else { return false }
        grants[grant] = nil
        return true
    }
}

// MARK: - Slow attempts

extension AttemptTable {
    /// Counts an attempt among those that take long.
    package mutating func setSlow(_ id: String, _ now: Instant) { slow.set(id, now) }

    /// Counts an attempt no more among those that take long.
    package mutating func removeSlow(_ id: String) { slow.remove(id) }
}
