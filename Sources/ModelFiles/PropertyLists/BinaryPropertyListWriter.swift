/// Encodes one property list: objects level by level, leaves with equal bytes once.
struct BinaryPropertyListWriter {
    private enum Item {
        case leaf([UInt8])
        case container(marker: UInt8, count: Int, references: [Int])
    }

    private var items: [Item] = []
    /// Containers that are numbered and not yet taken apart; walked in order, so that no depth
    /// of a value costs stack.
    private var waiting: [(index: Int, value: PropertyList)] = []
    private var leaves: [[UInt8]: Int] = [:]

    mutating func write(_ value: PropertyList) -> [UInt8] {
        _ = number(value)
        var next = 0
        while next < waiting.count {
            let (index, container) = waiting[next]
            items[index] = takeApart(container)
            next += 1
        }
        return assemble()
    }

    private mutating func takeApart(_ container: PropertyList) -> Item {
        switch container {
        case .array(let elements):
            return list(BinaryPropertyListMarker.array, elements)
        case .set(let elements):
            return list(BinaryPropertyListMarker.set, elements)
        case .dictionary(let entries):
            let keys = entries.map { number(.string($0.key)) }
            let values = entries.map { number($0.value) }
            return .container(
                marker: BinaryPropertyListMarker.dictionary, count: entries.count,
                references: keys + values)
        default:
            return .leaf(Self.encodeLeaf(container))
        }
    }

    private mutating func list(_ marker: UInt8, _ elements: [PropertyList]) -> Item {
        .container(
            marker: marker, count: elements.count, references: elements.map { number($0) })
    }

    /// The number of a value among the objects, given now if it has none.
    private mutating func number(_ value: PropertyList) -> Int {
        switch value {
        case .array, .set, .dictionary:
            waiting.append((items.count, value))
            items.append(.leaf([]))
            return items.count - 1
        default:
            let encoded = Self.encodeLeaf(value)
            if let known = leaves[encoded] { return known }
            leaves[encoded] = items.count
            items.append(.leaf(encoded))
            return items.count - 1
        }
    }

    private func assemble() -> [UInt8] {
        let referenceSize = Self.width(of: UInt64(items.count - 1))
        var bytes = BinaryPropertyList.magic
        var offsets: [UInt64] = []
        offsets.reserveCapacity(items.count)
        for item in items {
            offsets.append(UInt64(bytes.count))
            switch item {
            case .leaf(let encoded):
                bytes += encoded
            case .container(let marker, let count, let references):
                bytes += Self.header(marker, count: count)
                for reference in references {
                    Self.append(UInt64(reference), size: referenceSize, to: &bytes)
                }
            }
        }
        let tableStart = UInt64(bytes.count)
        let offsetSize = Self.width(of: tableStart)
        for offset in offsets { Self.append(offset, size: offsetSize, to: &bytes) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        Self.append(UInt64(items.count), size: 8, to: &bytes)
        Self.append(0, size: 8, to: &bytes)
        Self.append(tableStart, size: 8, to: &bytes)
        return bytes
    }

    private static func encodeLeaf(_ value: PropertyList) -> [UInt8] {
        var bytes: [UInt8] = []
        switch value {
        case .boolean(let flag): bytes = [flag ? 0x09 : 0x08]
        case .integer(let number): bytes = encode(number)
        case .real(let number):
            bytes = [BinaryPropertyListMarker.real << 4 | 3]
            append(number.bitPattern, size: 8, to: &bytes)
        case .shortReal(let number):
            bytes = [BinaryPropertyListMarker.real << 4 | 2]
            append(UInt64(number.bitPattern), size: 4, to: &bytes)
        case .date(let seconds):
            bytes = [BinaryPropertyListMarker.date << 4 | 3]
            append(seconds.bitPattern, size: 8, to: &bytes)
        case .data(let data):
            bytes = header(BinaryPropertyListMarker.data, count: data.count) + data
        case .string(let text): bytes = encode(text)
        case .brokenString(let units): bytes = encode(units)
        case .uid(let number):
            let size = width(of: number)
            bytes = [BinaryPropertyListMarker.uid << 4 | UInt8(size - 1)]
            append(number, size: size, to: &bytes)
        case .null, .array, .set, .dictionary: bytes = [0x00]
        }
        return bytes
    }

    private static func encode(_ number: Int128) -> [UInt8] {
        var bytes: [UInt8] = []
        let marker = BinaryPropertyListMarker.integer << 4
        if let small = UInt32(exactly: number) {
            // 1, 2 and 4 bytes are unsigned, 8 and 16 signed.
            let size = width(of: UInt64(small))
            bytes.append(marker | UInt8(size.trailingZeroBitCount))
            append(UInt64(small), size: size, to: &bytes)
        } else if let medium = Int64(exactly: number) {
            bytes.append(marker | 3)
            append(UInt64(bitPattern: medium), size: 8, to: &bytes)
        } else {
            bytes.append(marker | 4)
            append(UInt64(truncatingIfNeeded: number >> 64), size: 8, to: &bytes)
            append(UInt64(truncatingIfNeeded: number), size: 8, to: &bytes)
        }
        return bytes
    }

    private static func encode(_ text: String) -> [UInt8] {
        let utf8 = Array(text.utf8)
        guard utf8.allSatisfy({ $0 < 0x80 }) else { return encode(Array(text.utf16)) }
        return header(BinaryPropertyListMarker.ascii, count: utf8.count) + utf8
    }

    private static func encode(_ units: [UInt16]) -> [UInt8] {
        var bytes = header(BinaryPropertyListMarker.utf16, count: units.count)
        for unit in units { append(UInt64(unit), size: 2, to: &bytes) }
        return bytes
    }

    private static func header(_ marker: UInt8, count: Int) -> [UInt8] {
        guard count >= 0x0F else { return [marker << 4 | UInt8(count)] }
        return [marker << 4 | 0x0F] + encode(Int128(count))
    }

    /// Bytes that a number needs, rounded up to 1, 2, 4 or 8.
    private static func width(of number: UInt64) -> Int {
        switch number {
        case 0...0xFF: 1
        case 0...0xFFFF: 2
        case 0...0xFFFF_FFFF: 4
        default: 8
        }
    }

    private static func append(_ number: UInt64, size: Int, to bytes: inout [UInt8]) {
        for shift in stride(from: 8 * (size - 1), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }
}
