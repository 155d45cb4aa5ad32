/// What is to happen, by virtual time; what is due at the same millisecond comes in the order in
/// which it was scheduled.
///
/// A binary heap: scheduling and taking cost O(log n).
struct EventQueue<Event> {
    private struct Entry {
        let time: Int64
        let number: UInt64
        let event: Event

        func precedes(_ other: Entry) -> Bool {
            time != other.time ? time < other.time : number < other.number
        }
    }

    private var heap: [Entry] = []
    private var scheduled: UInt64 = 0

    var count: Int { heap.count }
    /// When the next event is due, in milliseconds.
    var nextTime: Int64? { heap.first?.time }

    mutating func schedule(_ event: Event, at time: Int64) {
        heap.append(Entry(time: time, number: scheduled, event: event))
        scheduled += 1
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].precedes(heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the event that is due first.
    mutating func take() -> (time: Int64, event: Event)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return (first.time, first.event)
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].precedes(heap[least]) { least = child }
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
