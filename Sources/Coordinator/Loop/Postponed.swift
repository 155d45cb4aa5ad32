/// What a loop could not do at once, and does later.
struct Postponed {
    private var bodies: [(at: Int64, body: (CoordinatorLoop) -> Void)] = []
    private var errands: [Desks.Errand] = []

    /// When something is due; nil where nothing waits.
    var nextWake: Int64? { bodies.first?.at }

    /// Adds what is done at a time not before those of what was added earlier.
    mutating func add(_ body: @escaping (CoordinatorLoop) -> Void, at time: Int64) {
        bodies.append((time, body))
    }

    /// Takes out what is due.
    mutating func due(at now: Int64) -> [(CoordinatorLoop) -> Void] {
        let due = bodies.prefix { $0.at <= now }
        bodies.removeFirst(due.count)
        return due.map(\.body)
    }

    var hasErrands: Bool { !errands.isEmpty }

    /// Adds an errand for which there was no place.
    mutating func add(_ errand: @escaping Desks.Errand) { errands.append(errand) }

    /// Hands errands over, in their order, while they are taken.
    mutating func hand(_ take: (@escaping Desks.Errand) -> Bool) {
        guard !errands.isEmpty else { return }
        let count = errands.prefix { take($0) }.count
        errands.removeFirst(count)
    }
}
