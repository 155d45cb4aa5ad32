import Synchronization

/// Remembers what was computed for a few keys, for many threads.
///
/// Handed in from outside wherever it is used, so that equal work over the stores of a fleet is
/// done once. Keys are compared one by one, never hashed: keys that share their storage, as
/// models that came out of a memo do, are found equal at once.
package final class Memo<Key: Equatable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let key: Key
        let value: Value
    }

    /// The oldest first.
    private let entries = Mutex<[Entry]>([])
    private let limit: Int

    /// - Parameter limit: the most values that are kept; the oldest makes room.
    package init(limit: Int) { self.limit = limit }

    /// The value of a key, computed where it is not known.
    ///
    /// No thread waits for another thread's computation; two may compute the same.
    /// - Throws: what the computation throws; nothing is remembered then.
    package func value<Failure: Error>(
        for key: Key, compute: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let known = entries.withLock { entries in entries.last { $0.key == key }?.value }
        if let known { return known }
        let value = try compute()
        entries.withLock { entries in
            guard !entries.contains(where: { $0.key == key }) else { return }
            if entries.count >= limit { entries.removeFirst(entries.count - limit + 1) }
            entries.append(Entry(key: key, value: value))
        }
        return value
    }
}
