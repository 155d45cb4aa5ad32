import ClusterCore
import Jobs
import SafeSQLite
import Synchronization

/// How tasks that run are interrupted.
///
/// A task of a small store has a stop of its own. A store that is cut into chunks has one for as
/// long as its connections live, which is from one preparation to the next.
final class TaskStops: Sendable {
    private struct State {
        var stops: [StoreKey: [ObjectIdentifier: StatementStop]] = [:]
        var hasEnded = false
    }

    private let state = Mutex(State())

    /// Makes a stop for tasks of a store that begin.
    func make(for key: StoreKey) -> StatementStop {
        let stop = StatementStop()
        let hasEnded = state.withLock { state in
            state.stops[key, default: [:]][ObjectIdentifier(stop)] = stop
            return state.hasEnded
        }
        if hasEnded { stop.set() }
        return stop
    }

    /// Forgets a stop whose tasks have ended.
    func remove(_ stop: StatementStop?, of key: StoreKey) {
        guard let stop else { return }
        state.withLock { state in
            state.stops[key]?[ObjectIdentifier(stop)] = nil
            if state.stops[key]?.isEmpty == true { state.stops[key] = nil }
        }
    }

    /// Interrupts the tasks of a store.
    func set(_ key: StoreKey) {
        let stops = state.withLock { $0.stops[key] ?? [:] }
        for stop in stops.values { stop.set() }
    }

    /// Interrupts all tasks, those that begin later, too.
    func setAll() {
        let stops = state.withLock { state in
            state.hasEnded = true
            return state.stops.values.flatMap(\.values)
        }
        for stop in stops { stop.set() }
    }
}
