/// Values by a number that is never used twice.
///
/// Unlike a dictionary's, a value is read and changed where it lies: reading one field of a large
/// value does not copy all of it. Each operation is O(1).
package struct Slab<Value: Sendable>: Sendable {
    private var places: [Int: Int] = [:]
    private var slots: [Value?] = []
    private var free: [Int] = []
    /// What is read for a number that is not there.
    private let nothing: Value? = nil

    package init() {}

    package var count: Int { places.count }
    package var isEmpty: Bool { places.isEmpty }

    /// The numbers, ascending; O(n log n).
    package var keys: [Int] { places.keys.sorted() }

    /// The values in the order of their numbers; O(n log n).
    package var values: [Value] { keys.compactMap { self[$0] } }

    package subscript(number: Int) -> Value? {
        _read {
            if let place = places[number] { yield slots[place] } else { yield nothing }
        }
        _modify {
            if let place = places[number] {
                yield &slots[place]
                if slots[place] == nil {
                    places[number] = nil
                    free.append(place)
                }
            } else {
                var new: Value?
                yield &new
                if let new { insert(new, number) }
            }
        }
    }

    private mutating func insert(_ value: Value, _ number: Int) {
        if let place = free.popLast() {
            slots[place] = value
            places[number] = place
        } else {
            places[number] = slots.count
            slots.append(value)
        }
    }
}
