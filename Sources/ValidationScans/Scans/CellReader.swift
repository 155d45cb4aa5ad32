import CoreDataStore
import DurableFiles
import SafeSQLite
import StoreFileChecks

/// Hashes the cells that a source row must become, and the cells that a destination row has.
struct CellReader {
    let constants: [StoredConstant]
    private let computed: ComputedRules
    /// Those of `computed`: threads that share them would wait for each other to count references.
    private let computedRules: [Unmanaged<ComputedRule>?]
    /// The place of the first input of computed values in a row.
    private let firstInput: Int
    /// Parses numbers as SQLite does; made for the first text that needs it.
    private let numbers: NumberParser
    private let externalData: FilePath

    init(rules: SourceRules, connection: Connection, externalData: FilePath) {
        constants = rules.constants
        computed = rules.computed
        computedRules = computed.rules.map { $0.map(Unmanaged.passUnretained) }
        firstInput = rules.firstInput
        self.externalData = externalData
        numbers = NumberParser(connection: connection)
    }

    /// The hash of a stored value as it stands.
    @inline(__always)
    static func stored(
        _ row: RawRow, _ column: Int, _ seed: HashSeed, _ key: RowKey
    ) -> CellDigest {
        let cell = row.cell(column)
        let kind = cell.storageClass
        switch kind {
        case 1:
            let value = UInt64(bitPattern: cell.integer)
            return CellDigest(ContentHash.word(seed, key, storageClass: 1, value))
        case 2: return CellDigest(ContentHash.real(seed, key, cell.real))
        case 3, 4:
            return CellDigest(ContentHash.bytes(seed, key, storageClass: kind, cell.bytes))
        default: return CellReader.null(seed, key)
        }
    }

    @inline(__always)
    static func null(_ seed: HashSeed, _ key: RowKey) -> CellDigest {
        CellDigest(ContentHash.word(seed, key, storageClass: 5, 0), isNull: true)
    }

    /// The hash of what a rule makes of a source row; nil where it cannot be made because a file
    /// of external data is missing.
    @inline(__always)
    func expected(
        _ rule: CellRule, _ row: RawRow, _ key: RowKey
    ) throws(StoreError) -> CellDigest? {
        switch rule.origin {
        case .column: return try converted(rule, row, key)
        case .columnOrConstant:
            if row.cell(rule.column).storageClass == 5 { return constant(rule, key) }
            return try converted(rule, row, key)
        case .constant: return constant(rule, key)
        case .addedPrefix: return addedPrefix(rule, row, key)
        case .removedPrefix: return try removedPrefix(rule, row, key)
        case .computed: return try computedValue(rule, row, key)
        case .policy: return nil
        }
    }

    private func computedValue(
        _ rule: CellRule, _ row: RawRow, _ key: RowKey
    ) throws(StoreError) -> CellDigest? {
        let seed = rule.seed
        guard let known = computedRules[rule.column] else { return nil }
        let cells = ComputedRule.Row(cells: row, first: firstInput, seed: seed, key: key)
        return try known._withUnsafeGuaranteedRef { rule in
            Result { () throws(StoreError) in try rule.digest(cells, computed.evaluator) }
        }.get()
    }

    private func constant(_ rule: CellRule, _ key: RowKey) -> CellDigest {
        let value = constants[rule.constant]
        return CellDigest(value.digest(rule.seed, key), isNull: value.storageClass == 5)
    }

    /// A value after the affinity of its new column.
    @inline(__always)
    private func converted(
        _ rule: CellRule, _ row: RawRow, _ key: RowKey
    ) throws(StoreError) -> CellDigest {
        let seed = rule.seed
        let cell = row.cell(rule.column)
        switch cell.storageClass {
        case 1:
            let value = cell.integer
            switch rule.affinity {
            case .real: return CellDigest(ContentHash.real(seed, key, Double(value)))
            case .text: return try written(rule, row, key)
            case .numeric, .blob:
                let word = UInt64(bitPattern: value)
                return CellDigest(ContentHash.word(seed, key, storageClass: 1, word))
            }
        case 2:
            let value = cell.real
            switch rule.affinity {
            case .numeric: return CellReader.numeric(value, seed, key)
            case .text: return try written(rule, row, key)
            case .real, .blob: return CellDigest(ContentHash.real(seed, key, value))
            }
        case 3:
            if rule.parsesText { return try parsed(rule, row, key) }
            return CellDigest(ContentHash.bytes(seed, key, storageClass: 3, cell.bytes))
        case 4:
            return CellDigest(ContentHash.bytes(seed, key, storageClass: 4, cell.bytes))
        default: return CellReader.null(seed, key)
        }
    }

    @inline(__always)
    private static func numeric(_ value: Double, _ seed: HashSeed, _ key: RowKey) -> CellDigest {
        guard let whole = Affinity.integer(value) else {
            return CellDigest(ContentHash.real(seed, key, value))
        }
        let word = UInt64(bitPattern: whole)
        return CellDigest(ContentHash.word(seed, key, storageClass: 1, word))
    }

    /// A number as the text that SQLite writes into a text column.
    private func written(
        _ rule: CellRule, _ row: RawRow, _ key: RowKey
    ) throws(StoreError) -> CellDigest {
        let text = try numbers.text(of: row.cell(rule.column))
        return CellDigest(
            text.withUnsafeBytes { ContentHash.bytes(rule.seed, key, storageClass: 3, $0) })
    }

    @inline(__always)
    private func text(_ rule: CellRule, _ row: RawRow, _ key: RowKey) -> CellDigest {
        CellDigest(ContentHash.bytes(rule.seed, key, storageClass: 3, row.cell(rule.column).bytes))
    }

    private func parsed(
        _ rule: CellRule, _ row: RawRow, _ key: RowKey
    ) throws(StoreError) -> CellDigest {
        guard let number = try numbers.parse(row, rule.column) else { return text(rule, row, key) }
        switch number {
        case .integer(let value):
            if rule.affinity == .real {
                return CellDigest(ContentHash.real(rule.seed, key, Double(value)))
            }
            let word = UInt64(bitPattern: value)
            return CellDigest(ContentHash.word(rule.seed, key, storageClass: 1, word))
        case .real(let value):
            if rule.affinity == .real {
                return CellDigest(ContentHash.real(rule.seed, key, value))
            }
            return CellReader.numeric(value, rule.seed, key)
        }
    }

    private func addedPrefix(_ rule: CellRule, _ row: RawRow, _ key: RowKey) -> CellDigest {
        guard row.cell(rule.column).storageClass == 4 else {
            return CellReader.stored(row, rule.column, rule.seed, key)
        }
        var hash = StreamingHash(rule.seed, key)
        withUnsafeBytes(of: ExternalReference.inlinePrefix) { hash.update($0) }
        hash.update(row.cell(rule.column).bytes)
        return CellDigest(hash.finish(storageClass: 4))
    }

    private func removedPrefix(
        _ rule: CellRule, _ row: RawRow, _ key: RowKey
    ) throws(StoreError) -> CellDigest? {
        let cell = row.cell(rule.column)
        let name: String
        switch cell.storageClass == 4 ? ExternalReference(cell.bytes) : .malformed {
        case .inline:
            let value = UnsafeRawBufferPointer(rebasing: cell.bytes.dropFirst())
            return CellDigest(ContentHash.bytes(rule.seed, key, storageClass: 4, value))
        case .file(let found): name = found
        // A value that never had a prefix is what it is.
        case .malformed: return CellReader.stored(row, rule.column, rule.seed, key)
        }
        var hash = StreamingHash(rule.seed, key)
        let path = externalData.appending(name)
        guard try FilePieces.ifPresent(path, each: { hash.update($0) }) else { return nil }
        return CellDigest(hash.finish(storageClass: 4))
    }
}

/// Turns text into the number that SQLite's affinity makes of it, and numbers into text.
final class NumberParser {
    enum Number {
        case integer(Int64)
        case real(Double)
    }

    private let connection: Connection
    private var parsing: Statement?
    private var writing: Statement?

    init(connection: Connection) { self.connection = connection }

    /// A statement that is compiled when it is needed for the first time.
    private func prepared(
        _ known: inout Statement?, _ sql: SQLText
    ) throws(StoreError) -> Statement {
        if let known { return known }
        let made = try connection.prepare(sql)
        known = made
        return made
    }

    /// The bytes of the text that SQLite makes of a number.
    func text(of number: RawCell) throws(StoreError) -> [UInt8] {
        if number.storageClass == 1 { return Array("\(number.integer)".utf8) }
        let cast = try prepared(&writing, "SELECT CAST(?1 AS TEXT)")
        defer { cast.reset() }
        try cast.bind(number.real, at: 1)
        return try cast.step() ? Array(cast.bytes(0)) : []
    }

    /// The number; nil for a text that is none as a whole.
    func parse(_ row: RawRow, _ column: Int) throws(StoreError) -> Number? {
        guard NumberParser.isNumber(row.cell(column).bytes) else { return nil }
        let cast = try prepared(&parsing, "SELECT CAST(?1 AS NUMERIC)")
        defer { cast.reset() }
        try cast.bind(String(decoding: row.cell(column).bytes, as: UTF8.self), at: 1)
        guard try cast.step() else { return nil }
        return cast.storageClass(0) == 1 ? .integer(cast.integer(0)) : .real(cast.real(0))
    }

    /// Whether a text is a decimal number with nothing but blanks around it.
    static func isNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        var rest = text[...]
        let isBlank = { (byte: UInt8) in byte == 32 || (9...13).contains(byte) }
        while let first = rest.first, isBlank(first) { rest.removeFirst() }
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        let isSign = { (byte: UInt8?) in byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") }
        if isSign(rest.first) { rest.removeFirst() }
        var digits = NumberParser.dropDigits(&rest)
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            digits += NumberParser.dropDigits(&rest)
        }
        guard digits > 0 else { return false }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            if isSign(rest.first) { rest.removeFirst() }
            guard NumberParser.dropDigits(&rest) > 0 else { return false }
        }
        return rest.isEmpty
    }

    private static func dropDigits(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Int {
        var count = 0
        while let first = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) {
            rest.removeFirst()
            count += 1
        }
        return count
    }
}
