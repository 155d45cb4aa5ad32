import ManagedObjectModel

/// Decodes one binary property list whose bytes may be hostile.
///
/// Every offset, count and size is checked against the bytes before use. An object is decoded once;
/// its height and the weight of its unfolded tree are kept, so that neither a chain of shared
/// objects becomes too deep nor a web of them too large for code that walks the value.
struct BinaryPropertyListReader {
    private enum State {
        case unseen
        case open
        case decoded(PropertyList, height: Int, weight: Int)
    }

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let topObject: Int
    /// Where the offset table begins, and objects end.
    private let tableStart: Int
    /// How many bytes the unfolded value may have, small objects counted as 16.
    private let weightLimit: Int
    private var states: [State]

    // What is read of hostile lists stays within some 300 MB. Real models have tens of thousands
    // of objects.
    private static let mostObjects = 1 << 20
    private static let mostWeight = 1 << 28

    init(_ bytes: [UInt8]) throws(ModelError) {
        let magic = BinaryPropertyList.magic
        let trailer = bytes.count - BinaryPropertyList.trailerSize
        guard trailer >= magic.count, bytes.starts(with: magic) else {
            throw .malformed("the property list does not begin with bplist00")
        }
        self.bytes = bytes
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
            throw .malformed("the property list's trailer has impossible widths")
        }
        let numbers = (0..<3).map { index in
            bytes[(trailer + 8 + 8 * index)..<(trailer + 16 + 8 * index)]
                .reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        // Each object takes a byte at least, and so does its offset.
        guard let count = Int(exactly: numbers[0]), count >= 1,
            count <= min(bytes.count, Self.mostObjects),
            let top = Int(exactly: numbers[1]), top < count,
            let start = Int(exactly: numbers[2]), start >= magic.count, start <= trailer,
            count * offsetSize <= trailer - start
        else {
            throw .malformed("the property list's trailer does not fit its \(bytes.count) bytes")
        }
        objectCount = count
        topObject = top
        tableStart = start
        weightLimit = min((1 << 22) + 64 * bytes.count, Self.mostWeight)
        states = Array(repeating: .unseen, count: count)
    }

    mutating func top() throws(ModelError) -> PropertyList {
        try object(topObject, depth: 0).value
    }

    private mutating func object(
        _ index: Int, depth: Int
    ) throws(ModelError) -> (value: PropertyList, height: Int, weight: Int) {
        switch states[index] {
        case .open:
            throw .malformed("object \(index) of the property list contains itself")
        case .decoded(let value, let height, let weight):
            guard depth + height <= BinaryPropertyList.depthLimit else { throw tooDeep() }
            return (value, height, weight)
        case .unseen:
            guard depth < BinaryPropertyList.depthLimit else { throw tooDeep() }
            states[index] = .open
            let decoded = try decode(index, depth: depth)
            states[index] = .decoded(
                decoded.value, height: decoded.height, weight: decoded.weight)
            return decoded
        }
    }

    private func tooDeep() -> ModelError {
        .malformed(
            "the property list is nested deeper than \(BinaryPropertyList.depthLimit) levels")
    }

    private mutating func decode(
        _ index: Int, depth: Int
    ) throws(ModelError) -> (value: PropertyList, height: Int, weight: Int) {
        let start = try offset(of: index)
        let marker = bytes[start]
        switch marker >> 4 {
        case BinaryPropertyListMarker.array:
            let list = try children(at: start, perItem: 1, depth: depth)
            return (.array(list.values), list.height, list.weight)
        case BinaryPropertyListMarker.set:
            let list = try children(at: start, perItem: 1, depth: depth)
            return (.set(list.values), list.height, list.weight)
        case BinaryPropertyListMarker.dictionary:
            let list = try children(at: start, perItem: 2, depth: depth)
            return (
                try dictionary(list.values, object: index), list.height, list.weight
            )
        default:
            let (value, size) = try leaf(marker, at: start)
            return (value, 1, 16 + size)
        }
    }

    private func dictionary(
        _ values: [PropertyList], object index: Int
    ) throws(ModelError) -> PropertyList {
        let count = values.count / 2
        var entries: [PropertyList.Entry] = []
        entries.reserveCapacity(count)
        // Few keys are compared faster than hashed, and most dictionaries have few.
        var seen: Set<String> = []
        for place in 0..<count {
            guard case .string(let key) = values[place] else {
                throw .malformed("dictionary \(index) of the property list has a non-text key")
            }
            let isNew =
                count <= 16
                ? !entries.contains { $0.key == key } : seen.insert(key).inserted
            guard isNew else {
                throw .malformed("dictionary \(index) of the property list has a key twice")
            }
            entries.append(PropertyList.Entry(key, values[count + place]))
        }
        return .dictionary(entries)
    }

    private mutating func children(
        at start: Int, perItem: Int, depth: Int
    ) throws(ModelError) -> (values: [PropertyList], height: Int, weight: Int) {
        let (count, first) = try length(at: start)
        guard count <= (tableStart - first) / (referenceSize * perItem) else {
            throw outside(start)
        }
        var values: [PropertyList] = []
        values.reserveCapacity(count * perItem)
        var height = 0
        var weight = 16
        for place in 0..<(count * perItem) {
            let raw = try number(at: first + place * referenceSize, size: referenceSize)
            guard raw < UInt64(objectCount) else {
                throw .malformed("the property list refers to object \(raw), which it lacks")
            }
            let child = try object(Int(raw), depth: depth + 1)
            height = max(height, child.height)
            weight += child.weight
            guard weight <= weightLimit else {
                throw .malformed("shared objects of the property list unfold to too much")
            }
            values.append(child.value)
        }
        return (values, height + 1, weight)
    }

    private func leaf(
        _ marker: UInt8, at start: Int
    ) throws(ModelError) -> (value: PropertyList, size: Int) {
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0:
            switch low {
            case 0x0: return (.null, 0)
            case 0x8: return (.boolean(false), 0)
            case 0x9: return (.boolean(true), 0)
            default: break
            }
        case BinaryPropertyListMarker.integer where low <= 4:
            return (.integer(try integer(at: start + 1, power: low)), 0)
        case BinaryPropertyListMarker.real where low == 2:
            let bits = UInt32(truncatingIfNeeded: try number(at: start + 1, size: 4))
            return (.shortReal(Float(bitPattern: bits)), 0)
        case BinaryPropertyListMarker.real where low == 3:
            return (.real(Double(bitPattern: try number(at: start + 1, size: 8))), 0)
        case BinaryPropertyListMarker.date where low == 3:
            return (.date(Double(bitPattern: try number(at: start + 1, size: 8))), 0)
        case BinaryPropertyListMarker.data:
            let range = try payload(at: start, unit: 1)
            return (.data(Array(bytes[range])), range.count)
        case BinaryPropertyListMarker.ascii:
            return try ascii(at: start)
        case BinaryPropertyListMarker.utf16:
            return try utf16(at: start)
        case BinaryPropertyListMarker.uid where low < 8:
            return (.uid(try number(at: start + 1, size: low + 1)), 0)
        default:
            break
        }
        throw .malformed(
            "the property list has an object of unknown kind \(marker) at byte \(start)")
    }

    private func integer(at place: Int, power: Int) throws(ModelError) -> Int128 {
        switch power {
        case 4:
            let high = try number(at: place, size: 8)
            let low = try number(at: place + 8, size: 8)
            return Int128(Int64(bitPattern: high)) << 64 | Int128(low)
        case 3: return Int128(Int64(bitPattern: try number(at: place, size: 8)))
        default: return Int128(try number(at: place, size: 1 << power))
        }
    }

    private func ascii(at start: Int) throws(ModelError) -> (value: PropertyList, size: Int) {
        let slice = bytes[try payload(at: start, unit: 1)]
        guard slice.allSatisfy({ $0 < 0x80 }) else {
            throw .malformed("the property list has a string that is not ASCII at byte \(start)")
        }
        return (.string(String(decoding: slice, as: UTF8.self)), slice.count)
    }

    private func utf16(at start: Int) throws(ModelError) -> (value: PropertyList, size: Int) {
        let range = try payload(at: start, unit: 2)
        let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        if let text = String(validating: units, as: UTF16.self) {
            return (.string(text), range.count)
        }
        return (.brokenString(units), range.count)
    }

    /// Where the object begins: inside the part of the file that holds objects.
    private func offset(of index: Int) throws(ModelError) -> Int {
        let place = tableStart + index * offsetSize
        let raw = bytes[place..<(place + offsetSize)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard raw >= UInt64(BinaryPropertyList.magic.count), raw < UInt64(tableStart) else {
            throw .malformed("object \(index) of the property list lies outside of it")
        }
        return Int(raw)
    }

    /// The count of an object that has one, and where its content begins.
    private func length(at start: Int) throws(ModelError) -> (count: Int, first: Int) {
        let low = Int(bytes[start] & 0x0F)
        guard low == 0x0F else { return (low, start + 1) }
        guard start + 1 < tableStart else { throw outside(start) }
        let marker = bytes[start + 1]
        guard marker >> 4 == BinaryPropertyListMarker.integer, marker & 0x0F <= 3 else {
            throw .malformed("the property list has a length that is not a number at byte \(start)")
        }
        let size = 1 << Int(marker & 0x0F)
        let raw = try number(at: start + 2, size: size)
        guard let count = Int(exactly: raw), count <= bytes.count else { throw outside(start) }
        return (count, start + 2 + size)
    }

    /// The bytes of an object whose count is in units.
    private func payload(at start: Int, unit: Int) throws(ModelError) -> Range<Int> {
        let (count, first) = try length(at: start)
        guard count <= (tableStart - first) / unit else { throw outside(start) }
        return first..<(first + count * unit)
    }

    /// An unsigned number of 1 to 8 bytes before the offset table.
    private func number(at place: Int, size: Int) throws(ModelError) -> UInt64 {
        guard place <= tableStart - size else { throw outside(place) }
        var result: UInt64 = 0
        for index in place..<(place + size) { result = result << 8 | UInt64(bytes[index]) }
        return result
    }

    private func outside(_ place: Int) -> ModelError {
        .malformed("the property list ends inside the object at byte \(place)")
    }
}
