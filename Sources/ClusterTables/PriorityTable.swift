/// Keys ordered by a priority that may change: the lowest is found in O(1), everything else costs
/// O(log n).
///
/// A binary heap with the place of each key. Keys of equal priority come in an order that depends
/// on the history of calls alone, so that equal histories behave alike in every process.
///
/// It is inlinable, because machines of several modules use it with every event: without its code
/// at hand they would take half as long again.
@usableFromInline
package struct PriorityTable<Key: Hashable & Sendable, Priority: Comparable & Sendable>: Sendable {
    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline let key: Key
        @usableFromInline var priority: Priority

        @inlinable
        init(key: Key, priority: Priority) {
            self.key = key
            self.priority = priority
        }
    }

    @usableFromInline var heap: [Entry] = []
    @usableFromInline var places: [Key: Int] = [:]

    @inlinable
    package init() {}

    @inlinable
    package var count: Int { heap.count }
    @inlinable
    package var isEmpty: Bool { heap.isEmpty }

    /// The key with the lowest priority.
    @inlinable
    package var first: (key: Key, priority: Priority)? {
        heap.first.map { ($0.key, $0.priority) }
    }

    /// The priority of a key; nil where it is not there.
    @inlinable
    package func priority(of key: Key) -> Priority? { places[key].map { heap[$0].priority } }

    /// Whether a key is there.
    @inlinable
    package func contains(_ key: Key) -> Bool { places[key] != nil }

    /// Enters a key, or changes its priority.
    @inlinable
    package mutating func set(_ key: Key, _ priority: Priority) {
        if let place = places[key] {
            let before = heap[place].priority
            heap[place].priority = priority
            if priority < before { rise(place) } else { sink(place) }
        } else {
            places[key] = heap.count
            heap.append(Entry(key: key, priority: priority))
            rise(heap.count - 1)
        }
    }

    /// Takes a key out; nothing where it is not there.
    @inlinable
    package mutating func remove(_ key: Key) {
        guard let place = places.removeValue(forKey: key) else { return }
        let last = heap.removeLast()
        guard place < heap.count else { return }
        let goesUp = last.priority < heap[place].priority
        heap[place] = last
        places[last.key] = place
        if goesUp { rise(place) } else { sink(place) }
    }

    /// Takes the lowest key out where a condition holds for its priority.
    @inlinable
    package mutating func popFirst(where condition: (Priority) -> Bool = { _ in true }) -> Key? {
        guard let first = heap.first, condition(first.priority) else { return nil }
        remove(first.key)
        return first.key
    }

    /// Up to so many keys near the top of the heap; the lowest is the first.
    @inlinable
    package func prefix(_ count: Int) -> [Key] { heap.prefix(count).map(\.key) }

    @inlinable
    mutating func rise(_ start: Int) {
        var place = start
        while place > 0 {
            let parent = (place - 1) / 2
            guard heap[place].priority < heap[parent].priority else { return }
            exchange(place, parent)
            place = parent
        }
    }

    @inlinable
    mutating func sink(_ start: Int) {
        var place = start
        while true {
            var lowest = place
            let left = 2 * place + 1
            if left < heap.count, heap[left].priority < heap[lowest].priority { lowest = left }
            let right = left + 1
            if right < heap.count, heap[right].priority < heap[lowest].priority { lowest = right }
            guard lowest != place else { return }
            exchange(place, lowest)
            place = lowest
        }
    }

    @inlinable
    mutating func exchange(_ first: Int, _ second: Int) {
        heap.swapAt(first, second)
        places[heap[first].key] = first
        places[heap[second].key] = second
    }

    /// Whether order and places agree; O(n), for checks.
    @inlinable
    package var isSound: Bool {
        heap.indices.allSatisfy { place in
            let parent = (place - 1) / 2
            let isOrdered = place == 0 || !(heap[place].priority < heap[parent].priority)
            return isOrdered && places[heap[place].key] == place
        } && places.count == heap.count
    }
}
