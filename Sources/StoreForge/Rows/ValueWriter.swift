import CoreDataStore
import DurableFiles
import ManagedObjectModel
import SafeSQLite

/// Makes values and binds them; values are functions of (seed, attribute, slot).
final class ValueWriter {
    private(set) var externalFiles = 0
    private(set) var externalBytes: Int64 = 0
    private let externalData: FilePath
    private let externalThreshold: Int?
    private let files = DurableFileSystem()
    private var bytes: [UInt8] = []
    private var blob: [UInt8] = []
    private var isFolderMade = false

    init(externalData: FilePath, externalThreshold: Int?) {
        self.externalData = externalData
        self.externalThreshold = externalThreshold
    }

    /// Binds the value of an attribute of one object.
    func bind(
        _ scheme: ValueScheme, slot: Int, to statement: Statement, at parameter: Int
    ) throws {
        if let content = scheme.content {
            guard let bytes = try content(slot) else {
                return try statement.bindNull(at: parameter)
            }
            return try bindBlob(bytes, scheme, slot, to: statement, at: parameter)
        }
        let hash = ForgeHash.number(scheme.salt, slot)
        guard !scheme.null.contains(hash) else {
            return try statement.bindNull(at: parameter)
        }
        // A number apart from the one that decided on NULL.
        let value = ForgeHash.mix(hash)
        switch scheme.type {
        case .integer16, .integer32, .integer64, .boolean:
            try statement.bind(integer(scheme, value, slot), at: parameter)
        case .decimal, .double, .float, .date:
            try statement.bind(real(scheme, value, slot), at: parameter)
        case .string, .uri:
            makeText(scheme, value, slot)
            try bytes.withUnsafeBytes { try statement.bindText($0, at: parameter) }
        case .uuid:
            makeUUID(scheme, value, slot)
            try bytes.withUnsafeBytes { try statement.bind($0, at: parameter) }
        case .binary, .transformable:
            try bindBlob(scheme, value, slot, to: statement, at: parameter)
        case .undefined, .objectID, .composite:
            try statement.bindNull(at: parameter)
        }
    }

    private func integer(_ scheme: ValueScheme, _ value: UInt64, _ slot: Int) -> Int64 {
        if scheme.isUnique { return Int64(slot) - 3 }
        let (low, high): (Int64, Int64) =
            switch scheme.type {
            case .boolean: (0, 1)
            case .integer16: (.init(Int16.min), .init(Int16.max))
            case .integer32: (.init(Int32.min), .init(Int32.max))
            default: (.min, .max)
            }
        if scheme.type == .boolean { return Int64(value & 1) }
        switch value & 63 {
        case 0: return low
        case 1: return high
        case 2: return -1
        case 3, 4, 5: return 0
        default:
            let span: UInt64 = scheme.type == .integer16 ? 30_000 : 2_000_000
            return Int64(value >> 8 % span) - 1_000
        }
    }

    private func real(_ scheme: ValueScheme, _ value: UInt64, _ slot: Int) -> Double {
        let whole = Double(value >> 8 % 1_000_000)
        switch scheme.type {
        case .date:
            // Seconds since 2001, some before; whole ones come back as integers.
            let seconds = Double(value >> 8 % 800_000_000) - 50_000_000
            if scheme.isUnique { return Double(slot) * 60 + (value & 1 == 0 ? 0 : 0.25) }
            return value & 1 == 0 ? seconds : seconds + Double(value >> 40 % 1_000_000) / 1_000_000
        case .decimal:
            if scheme.isUnique { return Double(slot) + 0.01 }
            return value & 3 == 0 ? whole : (value & 3 == 1 ? -whole : whole) / 100
        case .float:
            return scheme.isUnique ? Double(slot) + 0.5 : Double(Float(whole) / 7)
        default:
            if scheme.isUnique { return Double(slot) + 0.5 }
            switch value & 31 {
            case 0: return 0
            case 1: return Double.greatestFiniteMagnitude
            case 2: return Double.leastNonzeroMagnitude
            default: return (whole - 500_000) / 3
            }
        }
    }

    private func makeText(_ scheme: ValueScheme, _ value: UInt64, _ slot: Int) {
        bytes.removeAll(keepingCapacity: true)
        if scheme.type == .uri { bytes.append(contentsOf: "x-forge://object/".utf8) }
        if scheme.isUnique || scheme.type == .uri { appendDecimal(slot) }
        if scheme.type == .uri, !scheme.isUnique { appendDecimal(Int(value >> 40)) }
        if scheme.type == .string {
            if scheme.isUnique { bytes.append(UInt8(ascii: " ")) }
            ForgedText.append(length(scheme, value), hash: ForgeHash.mix(value), to: &bytes)
        }
    }

    private func makeUUID(_ scheme: ValueScheme, _ value: UInt64, _ slot: Int) {
        bytes.removeAll(keepingCapacity: true)
        append(ForgeHash.mix(value ^ scheme.salt))
        // The slot's number makes it unique; the mixing is one to one.
        append(ForgeHash.mix(UInt64(slot)))
    }

    private func bindBlob(
        _ scheme: ValueScheme, _ value: UInt64, _ slot: Int, to statement: Statement,
        at parameter: Int
    ) throws {
        let start = scheme.isExternal ? 1 : 0
        let count = length(scheme, value) + (scheme.isUnique ? 8 : 0)
        let end = start + (count + 7) / 8 * 8
        if blob.count < end { blob = [UInt8](repeating: 0, count: end) }
        blob.withUnsafeMutableBytes { buffer in
            var state = value | 1
            for offset in stride(from: start, to: end, by: 8) {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                buffer.storeBytes(of: state, toByteOffset: offset, as: UInt64.self)
            }
            if scheme.isUnique {
                buffer.storeBytes(of: UInt64(slot), toByteOffset: start, as: UInt64.self)
            }
        }
        try bindBlob(count, scheme, slot, to: statement, at: parameter)
    }

    /// Binds given bytes.
    private func bindBlob(
        _ bytes: [UInt8], _ scheme: ValueScheme, _ slot: Int, to statement: Statement,
        at parameter: Int
    ) throws {
        blob.removeAll(keepingCapacity: true)
        if scheme.isExternal { blob.append(0) }
        blob.append(contentsOf: bytes)
        try bindBlob(bytes.count, scheme, slot, to: statement, at: parameter)
    }

    /// Binds the bytes that `blob` holds, behind the prefix of external storage where there is one.
    private func bindBlob(
        _ count: Int, _ scheme: ValueScheme, _ slot: Int, to statement: Statement,
        at parameter: Int
    ) throws {
        let start = scheme.isExternal ? 1 : 0
        if start == 1 { blob[0] = ExternalReference.inlinePrefix }
        if scheme.isExternal, let externalThreshold, count > externalThreshold {
            let name = try writeFile(1..<(1 + count), scheme, slot)
            return try statement.bind(
                [ExternalReference.filePrefix] + Array(name.utf8) + [0], at: parameter)
        }
        try blob.withUnsafeBytes { buffer in
            try statement.bind(
                UnsafeRawBufferPointer(rebasing: buffer[0..<(start + count)]), at: parameter)
        }
    }

    private func writeFile(
        _ range: Range<Int>, _ scheme: ValueScheme, _ slot: Int
    ) throws -> String {
        if !isFolderMade {
            try files.makeFolders(externalData)
            isFolderMade = true
        }
        let name = ForgedUUID.text(ForgeHash.number(ForgeHash.mix(scheme.salt), slot))
        let file = try files.create(externalData.appending(name))
        try blob.withUnsafeBytes { buffer in
            try file.write(UnsafeRawBufferPointer(rebasing: buffer[range]))
        }
        try file.close()
        externalFiles += 1
        externalBytes += Int64(range.count)
        return name
    }

    private func length(_ scheme: ValueScheme, _ value: UInt64) -> Int {
        let lengths = scheme.lengths
        if lengths.lowerBound == 0, value >> 32 & 31 == 0 { return 0 }
        return lengths.lowerBound + Int(value >> 16 % UInt64(lengths.count))
    }

    private func append(_ word: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: word >> shift))
        }
    }

    private func appendDecimal(_ number: Int) { bytes.append(contentsOf: "\(number)".utf8) }
}

/// UUIDs that follow from a number.
enum ForgedUUID {
    /// 36 characters in upper case, with the marks of a random UUID (version 4).
    static func text(_ number: UInt64) -> String {
        let high = ForgeHash.mix(number)
        let low = ForgeHash.mix(~number)
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for place in 0..<32 {
            if [8, 12, 16, 20].contains(place) { text.append(UInt8(ascii: "-")) }
            let word = place < 16 ? high : low
            var digit = Int(word >> UInt64((place & 15) * 4) & 15)
            if place == 12 { digit = 4 }
            if place == 16 { digit = digit & 3 | 8 }
            text.append(digits[digit])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
