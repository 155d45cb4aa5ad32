import MigrationPlans
import SafeSQLite

/// Carries out a program, record after record, on one thread.
final class RecordMaker {
    let record: NewRecord
    private let columns: [RecordProgram.Column]
    /// Bytes of constants and of values that are put together, by column.
    private var buffers: [GrowingBytes?]
    /// The serial types of constant texts and blobs, by column.
    private var constantTypes: [UInt64]
    private let computed: [ComputedColumn]
    /// Keys to which one number is added.
    private let keys: [KeyCopy]
    /// Columns whose values are copied.
    private let copies: [ValueCopy]
    /// The other columns that differ from row to row.
    private var others: [Int] = []
    /// Whether all constants can be put into their columns.
    private var hasConstants = true

    /// The prefix byte of values that stand in their row (store format: external storage).
    private static let inline: UInt8 = 1
    /// The prefix byte of references to files.
    private static let reference: UInt8 = 2

    init(_ program: RecordProgram) {
        columns = program.columns
        record = NewRecord(columns: columns.count)
        buffers = Array(repeating: nil, count: columns.count)
        constantTypes = Array(repeating: 0, count: columns.count)
        computed = columns.enumerated().compactMap {
            ComputedColumn($0.element, column: $0.offset)
        }
        keys = columns.enumerated().compactMap { KeyCopy($0.element, column: $0.offset) }
        copies = columns.enumerated().compactMap { ValueCopy($0.element, column: $0.offset) }
        for (place, column) in columns.enumerated() {
            let constant: RecordProgram.Constant? =
                switch column.step {
                case .constant(let value): value
                case .copy(_, let value): value
                default: nil
                }
            switch constant {
            case .text(let bytes)?: keep(bytes, isText: true, place)
            case .blob(let bytes)?: keep(bytes, isText: false, place)
            case .null?, .integer?, .real?, nil: break
            }
        }
        // A constant stays in the record from row to row.
        for (place, column) in columns.enumerated() {
            switch column.step {
            case .constant(let value):
                if !put(value, column.affinity, place) { hasConstants = false }
            case .copy, .computed, .key(_, offset: .common): break
            default: others.append(place)
            }
        }
    }

    private func keep(_ bytes: [UInt8], isText: Bool, _ column: Int) {
        let buffer = GrowingBytes(capacity: bytes.count)
        for byte in bytes { buffer.append(byte) }
        buffers[column] = buffer
        constantTypes[column] = UInt64(2 * bytes.count + (isText ? 13 : 12))
    }

    /// Makes the record of a row.
    ///
    /// - Returns: false for values that are out of reach.
    func make(_ row: TableRecords.Row) -> Bool {
        guard hasConstants else { return false }
        for copy in copies {
            let type = row.types[copy.place]
            if copy.isPlain(type, row.values[copy.place]) {
                record.set(copy.column, type: type, row.values[copy.place])
            } else {
                guard set(copy.column, row) else { return false }
            }
        }
        for key in keys {
            guard copy(key.target, key.offset, row, key.column) else { return false }
        }
        for own in computed {
            guard compute(own, row) else { return false }
        }
        for column in others {
            guard set(column, row) else { return false }
        }
        record.close()
        return true
    }

    private func set(_ column: Int, _ row: TableRecords.Row) -> Bool {
        let affinity = columns[column].affinity
        switch columns[column].step {
        case .copy(let field, let other):
            if row.types[field.place] == 0, let other { return put(other, affinity, column) }
            return copy(row, field, affinity, column)
        case .key(let target, let offset):
            return number(row, target, column, mayLackKey: false) { key, entity in
                guard let own = Self.find(entity, offset) else { return .some(nil) }
                let (sum, isOver) = key.addingReportingOverflow(own)
                return isOver ? nil : .some(sum)
            }
        case .number(let target, let choice):
            var isFree = !target.isBounded
            if case .common = choice { isFree = false }
            return number(row, target, column, mayLackKey: isFree) { _, entity in
                .some(Self.find(entity, choice))
            }
        case .sameNumber(let target):
            return number(row, target, column, mayLackKey: !target.isBounded) { _, entity in
                .some(entity)
            }
        case .addingPrefix(let field):
            let type = row.types[field.place]
            guard type >= 12, type & 1 == 0, let from = row.values[field.place] else {
                return copy(row, field, affinity, column)
            }
            let buffer = buffers[column] ?? GrowingBytes()
            buffers[column] = buffer
            buffer.removeAll()
            buffer.append(Self.inline)
            buffer.append(from, Int((type - 12) / 2))
            record.set(column, type: type + 2, UnsafePointer(buffer.start))
            return true
        case .removingPrefix(let field):
            let type = row.types[field.place]
            guard type >= 14, type & 1 == 0, let from = row.values[field.place] else {
                return copy(row, field, affinity, column)
            }
            // What has neither prefix was there before the flag was, and stays as it is.
            if from[0] == Self.reference { return false }
            let isInline = from[0] == Self.inline
            record.set(column, type: isInline ? type - 2 : type, isInline ? from + 1 : from)
            return true
        // Looked at by themselves.
        case .constant, .computed: return false
        }
    }

    /// A key to which one number is added.
    private struct KeyCopy {
        let column: Int
        let target: RecordProgram.Target
        let offset: Int64

        init?(_ column: RecordProgram.Column, column number: Int) {
            guard case .key(let target, .common(let offset)) = column.step else { return nil }
            self.column = number
            self.target = target
            self.offset = offset
        }
    }

    private func copy(
        _ target: RecordProgram.Target, _ offset: Int64, _ row: TableRecords.Row, _ column: Int
    ) -> Bool {
        number(row, target, column, mayLackKey: false) { key, _ in
            let (sum, isOver) = key.addingReportingOverflow(offset)
            return isOver ? nil : .some(sum)
        }
    }

    private func compute(_ own: ComputedColumn, _ row: TableRecords.Row) -> Bool {
        let (column, buffer) = (own.column, own.buffer)
        switch own.value(of: row) {
        case nil, .argument?: return false
        case .null?: record.setNull(column)
        case .integer(let number)?: return put(.integer(number), own.affinity, column)
        case .real(let number)?: return put(.real(number), own.affinity, column)
        case .given? where own.takesText:
            record.set(column, type: UInt64(2 * buffer.count + 13), UnsafePointer(buffer.start))
        case .text(let bytes)? where own.takesText:
            bytes.withUnsafeBytes(own.keep)
            record.set(column, type: UInt64(2 * bytes.count + 13), UnsafePointer(buffer.start))
        case .blob(let bytes)?:
            bytes.withUnsafeBytes(own.keep)
            record.set(column, type: UInt64(2 * bytes.count + 12), UnsafePointer(buffer.start))
        case .given?, .text?: return false
        }
        return true
    }

    private static func find(_ entity: Int64?, _ choice: RecordProgram.Choice) -> Int64? {
        switch choice {
        case .common(let number): number
        case .byEntity(let pairs):
            entity.flatMap { entity in pairs.first { $0.from == entity }?.to }
        }
    }

    /// Sets what a body makes of a target's key and entity; NULL where it has no key, or one out
    /// of bounds.
    ///
    /// `mayLackKey`: whether the key is of no use. The body gives nil for what is out of reach;
    /// the result is false then.
    private func number(
        _ row: TableRecords.Row, _ target: RecordProgram.Target, _ column: Int, mayLackKey: Bool,
        _ body: (_ key: Int64, _ entity: Int64?) -> Int64??
    ) -> Bool {
        var key: Int64 = 0
        if !mayLackKey {
            let type = row.types[target.key]
            if type == 0 {
                record.setNull(column)
                return true
            }
            guard type < 10, type != 7, let bytes = row.values[target.key] else { return false }
            key = RecordBytes.integer(type, bytes)
            guard target.allows(key) else {
                record.setNull(column)
                return true
            }
        }
        var entity: Int64?
        switch target.entity {
        case .number(let number)?: entity = number
        case .field(let place)?:
            let type = row.types[place]
            if type != 0 {
                guard type < 10, type != 7, let bytes = row.values[place] else { return false }
                entity = RecordBytes.integer(type, bytes)
            }
        case nil: break
        }
        guard let made = body(key, entity) else { return false }
        if let made { record.set(column, integer: made) } else { record.setNull(column) }
        return true
    }

    private func put(
        _ value: RecordProgram.Constant, _ affinity: RecordProgram.Affinity, _ column: Int
    ) -> Bool {
        switch (value, affinity) {
        case (.null, _): record.setNull(column)
        case (.integer(let number), .integer), (.integer(let number), .numeric),
            (.integer(let number), .blob):
            record.set(column, integer: number)
        case (.integer(let number), .real): set(column, whole: number)
        case (.real(let number), .blob): record.set(column, real: number)
        case (.real(let number), .integer), (.real(let number), .numeric):
            set(column, real: number, isColumnReal: false)
        case (.real(let number), .real): set(column, real: number, isColumnReal: true)
        case (.text, .text), (.text, .blob), (.blob, _):
            guard let buffer = buffers[column] else { return false }
            record.set(column, type: constantTypes[column], UnsafePointer(buffer.start))
        case (.integer, .text), (.real, .text), (.text, _): return false
        }
        return true
    }

    /// Copies a value as a column with an affinity takes it (`applyAffinity` and `OP_MakeRecord`
    /// in SQLite's vdbe.c).
    private func copy(
        _ row: TableRecords.Row, _ field: RecordProgram.Field,
        _ affinity: RecordProgram.Affinity, _ column: Int
    ) -> Bool {
        let type = row.types[field.place]
        guard type != 0, let bytes = row.values[field.place] else {
            record.setNull(column)
            return type == 0
        }
        if type >= 12 {
            guard type & 1 == 0 || affinity == .text || affinity == .blob else { return false }
            record.set(column, type: type, bytes)
            return true
        }
        if affinity == .text { return false }
        if type == 7 {
            guard affinity != .blob else {
                record.set(column, type: type, bytes)
                return true
            }
            set(column, real: RecordBytes.real(bytes), isColumnReal: affinity == .real)
            return true
        }
        let isLong = type == 6
        switch (affinity, field.isReal) {
        case (.blob, true): record.set(column, real: Double(RecordBytes.integer(type, bytes)))
        case (_, true) where isLong: return false
        case (.real, false) where isLong: set(column, whole: RecordBytes.integer(type, bytes))
        default: record.set(column, type: type, bytes)
        }
        return true
    }

    /// Sets an integer in a column of reals: as an integer where that is shorter.
    private func set(_ column: Int, whole: Int64) {
        if RecordBytes.type(of: whole) == 6 {
            record.set(column, real: Double(whole))
        } else {
            record.set(column, integer: whole)
        }
    }

    /// Sets a real in a column of numbers: as an integer where it is one.
    private func set(_ column: Int, real: Double, isColumnReal: Bool) {
        guard real > -0x1p63, real < 0x1p63, real == real.rounded(.towardZero) else {
            return record.set(column, real: real)
        }
        let whole = Int64(real)
        if isColumnReal {
            set(column, whole: whole)
        } else {
            record.set(column, integer: whole)
        }
    }
}
