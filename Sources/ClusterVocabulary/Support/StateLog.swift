/// A state whose changes are all listed, each with what causes it.
package protocol ListedState: Hashable, Sendable, CaseIterable, RawRepresentable
where RawValue == Int {
    /// Every change that may happen; raw values count from 0.
    static var transitions: [Transition<Self>] { get }
}

/// A change of a state and what causes it.
package struct Transition<State: ListedState>: Hashable, Sendable {
    package let from: State
    package let to: State
    package let cause: String

    package init(_ from: State, _ to: State, _ cause: String) {
        self.from = from
        self.to = to
        self.cause = cause
    }
}

/// Changes states along their listed transitions and keeps count of those that were taken.
package struct StateLog<State: ListedState>: Sendable {
    private var counts: [Int]
    private let isListed: [Bool]

    package init() {
        let size = State.allCases.count
        counts = Array(repeating: 0, count: size * size)
        var listed = Array(repeating: false, count: size * size)
        for transition in State.transitions {
            listed[transition.from.rawValue * size + transition.to.rawValue] = true
        }
        isListed = listed
    }

    /// Changes a state; to the same one is no change.
    ///
    /// - Returns: the invariant that the change breaks; the state has changed all the same.
    package mutating func move(_ state: inout State, to next: State) -> BrokenInvariant? {
        guard state != next else { return nil }
        let place = state.rawValue * State.allCases.count + next.rawValue
        let old = state
        counts[place] += 1
        state = next
        if isListed[place] { return nil }
        return BrokenInvariant(.listedTransition, "\(State.self): \(old) to \(next)")
    }

    /// How often a change was taken.
    package func count(_ from: State, _ to: State) -> Int {
        counts[from.rawValue * State.allCases.count + to.rawValue]
    }

    /// Adds what another log counted.
    package mutating func add(_ other: StateLog) {
        for place in counts.indices { counts[place] += other.counts[place] }
    }

    /// Listed transitions that were never taken.
    package var missing: [Transition<State>] {
        State.transitions.filter { count($0.from, $0.to) == 0 }
    }
}
