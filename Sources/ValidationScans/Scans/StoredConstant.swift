import CoreDataStore
import ManagedObjectModel

/// What SQLite's affinity does to values that are put into a column (SQLite: data types §3).
enum Affinity: UInt8, Sendable {
    /// Values stay as they are.
    case blob
    /// Numbers become text.
    case text
    /// Whole reals become integers, texts that are numbers become numbers.
    case numeric
    /// Integers become reals, texts that are numbers become numbers.
    case real

    init(_ type: ColumnType) {
        switch type {
        case .integer, .decimal, .timestamp: self = .numeric
        case .float: self = .real
        case .varchar: self = .text
        case .blob: self = .blob
        }
    }

    /// A whole real as the integer that a numeric column keeps; nil where it stays a real.
    @inline(__always)
    static func integer(_ real: Double) -> Int64? {
        // The smallest and the largest integer are left out, as SQLite does.
        guard let whole = Int64(exactly: real), whole > Int64.min, whole < Int64.max else {
            return nil
        }
        return whole
    }
}

/// A default value as a row holds it.
struct StoredConstant: Sendable {
    /// SQLite's storage class.
    let storageClass: Int32
    /// The bits of a number.
    let word: UInt64
    /// The bytes of a text or blob.
    let bytes: [UInt8]

    /// The value of NULL.
    static let null = StoredConstant(storageClass: 5, word: 0, bytes: [])

    private init(storageClass: Int32, word: UInt64 = 0, bytes: [UInt8] = []) {
        self.storageClass = storageClass
        self.word = word
        self.bytes = bytes
    }

    /// What a default becomes in a column.
    init(_ value: DefaultValue, in column: ColumnLayout) {
        let affinity = Affinity(column.type)
        switch value {
        case .integer(let number): self.init(integer: number, affinity)
        case .boolean(let flag): self.init(integer: flag ? 1 : 0, affinity)
        case .real(let number), .date(let number): self.init(real: number, affinity)
        case .decimal(let text):
            if let number = Double(text) {
                self.init(real: number, affinity)
            } else {
                self = .null
            }
        case .text(let text), .uri(let text):
            self.init(text: Array(text.utf8))
        case .data(let data):
            let prefix = column.isExternal ? [ExternalReference.inlinePrefix] : []
            self.init(storageClass: 4, bytes: prefix + data)
        case .uuid(let bytes): self.init(storageClass: 4, bytes: bytes)
        }
    }

    /// A text in UTF-8.
    init(text: [UInt8]) { self.init(storageClass: 3, bytes: text) }

    /// An integer in a column of an affinity.
    init(integer: Int64, _ affinity: Affinity) {
        switch affinity {
        case .real: self.init(storageClass: 2, word: StoredConstant.bits(Double(integer)))
        case .text: self.init(storageClass: 3, bytes: Array("\(integer)".utf8))
        case .numeric, .blob: self.init(storageClass: 1, word: UInt64(bitPattern: integer))
        }
    }

    private init(real: Double, _ affinity: Affinity) {
        if affinity == .numeric, let whole = Affinity.integer(real) {
            self.init(storageClass: 1, word: UInt64(bitPattern: whole))
        } else {
            self.init(storageClass: 2, word: StoredConstant.bits(real))
        }
    }

    private static func bits(_ real: Double) -> UInt64 { real == 0 ? 0 : real.bitPattern }

    /// The constant's hash in a column.
    func digest(_ seed: HashSeed, _ row: RowKey) -> ContentDigest128 {
        guard storageClass == 3 || storageClass == 4 else {
            return ContentHash.word(seed, row, storageClass: storageClass, word)
        }
        return bytes.withUnsafeBytes {
            ContentHash.bytes(seed, row, storageClass: storageClass, $0)
        }
    }
}
