/// A binary heap of readers by the key of their current row.
struct KeyHeap {
    private var entries: [(key: Int64, reader: Int)] = []

    /// The reader with the lowest key; nil when all are at their end.
    var lowest: Int? { entries.first?.reader }

    mutating func push(key: Int64, reader: Int) {
        entries.append((key, reader))
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].key < entries[parent].key else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    mutating func replaceLowest(key: Int64) {
        entries[0].key = key
        sink()
    }

    mutating func removeLowest() {
        let last = entries.removeLast()
        guard !entries.isEmpty else { return }
        entries[0] = last
        sink()
    }

    private mutating func sink() {
        let moved = entries[0]
        var parent = 0
        while true {
            var least = 2 * parent + 1
            guard least < entries.count else { break }
            if least + 1 < entries.count, entries[least + 1].key < entries[least].key { least += 1 }
            guard entries[least].key < moved.key else { break }
            entries[parent] = entries[least]
            parent = least
        }
        entries[parent] = moved
    }
}
