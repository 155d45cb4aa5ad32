/// The hash tables whose order decides how Core Data names join tables.
///
/// `NameTable` is the first table: open addressing, doubled when full. `visitOrder` enters its
/// names into the second table and reads that by slot.
struct NameTable {
    private var slots: [String?] = Array(repeating: nil, count: 4)
    private var capacity = 3
    private(set) var count = 0

    init() {}

    /// Names in slot order.
    var names: [String] { slots.compactMap { $0 } }

    /// Enters a name unless it is there.
    mutating func enter(_ name: String) {
        guard !slots.contains(name) else { return }
        if count == capacity {
            let old = names
            capacity *= 2
            slots = Array(repeating: nil, count: slots.count * 2)
            for earlier in old { place(earlier) }
        }
        place(name)
        count += 1
    }

    private mutating func place(_ name: String) {
        var slot = Int(NameHash.mixed(NameHash.first(name))) & (slots.count - 1)
        while slots[slot] != nil { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = name
    }

    /// Slots of the second table by the number of names: (names at most, slots).
    private static let secondSizes = [
        (4, 5), (8, 11), (17, 23), (29, 41), (47, 67), (76, 113), (123, 199), (199, 317),
        (322, 521), (521, 839), (843, 1361),
    ]

    /// The names in the order in which they are visited, or nil beyond 843 names, for which no
    /// table size is known.
    var visitOrder: [String]? {
        guard let size = NameTable.secondSizes.first(where: { count <= $0.0 })?.1 else {
            return nil
        }
        var table: [String?] = Array(repeating: nil, count: size)
        for name in names {
            var slot = Int(NameHash.second(name)) % size
            while table[slot] != nil { slot = (slot + 1) % size }
            table[slot] = name
        }
        return table.compactMap { $0 }
    }
}

/// The three hash functions of these tables, over UTF-16 units in 32 bits.
enum NameHash {
    /// `h`: all units up to 96, else the first, middle and last 32.
    static func first(_ name: String) -> UInt32 {
        let units = Array(name.utf16)
        guard units.count > 96 else { return fold(units[...], count: units.count) }
        let middle = units.count / 2 - 16
        let chosen = units[..<32] + units[middle..<(middle + 32)] + units[(units.count - 32)...]
        return fold(chosen, count: units.count)
    }

    /// `h′`: all units up to 23, else the first 8 and the last 16.
    static func second(_ name: String) -> UInt32 {
        let units = Array(name.utf16)
        guard units.count > 23 else { return fold(units[...], count: units.count) }
        return fold(units[..<8] + units[(units.count - 16)...], count: units.count)
    }

    private static func fold(_ units: ArraySlice<UInt16>, count: Int) -> UInt32 {
        var value = UInt32(truncatingIfNeeded: count)
        for unit in units { value = value &* 257 &+ UInt32(unit) }
        return value &+ (value << (UInt32(truncatingIfNeeded: count) & 31))
    }

    /// Nine steps of subtracting and shifting.
    static func mixed(_ hash: UInt32) -> UInt32 {
        var a = 0x4B61_6E65 &+ hash
        var b: UInt32 = 0x4B61_6E65
        var c: UInt32 = 1
        for (right1, left, right2) in [(13, 8, 13), (12, 16, 5), (3, 10, 15)] {
            a = (a &- b &- c) ^ (c >> UInt32(right1))
            b = (b &- c &- a) ^ (a << UInt32(left))
            c = (c &- a &- b) ^ (b >> UInt32(right2))
        }
        return c
    }
}
