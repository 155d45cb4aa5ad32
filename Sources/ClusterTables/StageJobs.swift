/// The jobs of one stage of a store, in the order of the plan: which is next, and how many have
/// come to an end.
///
/// Jobs are known by their numbers; nothing is kept of those that were not begun.
package struct StageJobs: Hashable, Sendable {
    package let count: Int
    /// The first job that was not handed out, if it is not among `ahead`.
    private var next = 0
    /// Jobs behind `next` that are accepted or run already.
    private var ahead: Set<Int> = []
    /// Jobs that are to be tried again, ascending.
    private var again: [Int] = []
    /// Workers that a job is kept from for a while, as it failed there.
    private var avoided: [Int: [String]] = [:]
    package var accepted = 0
    package var quarantined = 0

    package init(count: Int) { self.count = count }

    /// Whether every job was accepted or given up.
    package var isSettled: Bool { accepted + quarantined == count }

    /// Jobs that are to be tried again.
    package var retries: Int { again.count }

    /// Jobs that no worker has begun.
    package var untouched: Int { count - next - ahead.count }

    /// Tells of a job that is not to be handed out: it is accepted, or runs.
    package mutating func setKnown(_ number: Int) {
        if number >= next { ahead.insert(number) }
    }

    /// Takes the next job that may be begun; jobs that are tried again come first.
    ///
    /// - Parameters:
    ///   - limit: numbers from here on have to wait.
    ///   - worker: who is to get it.
    /// - Returns: its number; nil where there is none for this worker.
    package mutating func take(below limit: Int, for worker: String) -> Int? {
        let place = again.firstIndex { number in
            number < limit && avoided[number]?.contains(worker) != true
        }
        if let place {
            let number = again.remove(at: place)
            avoided[number] = nil
            return number
        }
        skip()
        guard next < min(limit, count) else { return nil }
        next += 1
        return next - 1
    }

    /// Whether `take` would find one for some worker.
    package mutating func hasNext(below limit: Int) -> Bool {
        if let first = again.first, first < limit { return true }
        skip()
        return next < min(limit, count)
    }

    /// Lets a job be taken again, by workers that are not named first.
    package mutating func putBack(_ number: Int, avoiding workers: [String] = []) {
        let place = again.firstIndex { $0 > number } ?? again.endIndex
        again.insert(number, at: place)
        if !workers.isEmpty { avoided[number] = workers }
    }

    /// Lets every worker take a job, also one on which it failed.
    package mutating func openToAll(_ number: Int) { avoided[number] = nil }

    private mutating func skip() {
        while ahead.remove(next) != nil { next += 1 }
    }
}
