import MigrationPlans
import SafeSQLite

/// A column whose values an expression gives, with what it needs for that on one thread.
///
/// A class: its parts would be copied, and their references counted, for each row.
final class ComputedColumn {
    let column: Int
    let affinity: RecordProgram.Affinity
    let takesText: Bool
    /// Holds the text or blob that was given last.
    let buffer = GrowingBytes()
    /// Nil where the expression is out of reach.
    private let computer: CellComputer?
    private let fields: UnsafeMutableBufferPointer<RecordProgram.Field>

    /// Nil for a column that is not computed.
    init?(_ column: RecordProgram.Column, column number: Int) {
        guard case .computed(let cell, let read) = column.step else { return nil }
        self.column = number
        affinity = column.affinity
        takesText = affinity == .text || affinity == .blob
        computer = CellComputer(cell)
        fields = .allocate(capacity: read.count)
        _ = fields.initialize(from: read)
    }

    deinit { fields.deallocate() }

    /// What the expression gives for a row, nil where that is out of reach; a text that it wrote is
    /// in the buffer.
    func value(of row: TableRecords.Row) -> FunctionResult? {
        guard let computer else { return nil }
        let fields = fields
        return computer.value({ Self.input(row, fields[$0]) }, text: { self.keep($0) })
    }

    /// Puts bytes into the buffer.
    func keep(_ bytes: UnsafeRawBufferPointer) {
        buffer.removeAll()
        if let start = bytes.bindMemory(to: UInt8.self).baseAddress {
            buffer.append(start, bytes.count)
        }
    }

    private static func input(
        _ row: TableRecords.Row, _ field: RecordProgram.Field
    ) -> StoredInput {
        let type = row.types[field.place]
        guard type != 0, let bytes = row.values[field.place] else { return .null }
        if type >= 12 {
            let content = UnsafeRawBufferPointer(start: bytes, count: Int((type - 12) / 2))
            return type & 1 == 1 ? .text(content) : .blob(content)
        }
        if type == 7 { return .real(RecordBytes.real(bytes)) }
        let number = RecordBytes.integer(type, bytes)
        return field.isReal ? .real(Double(number)) : .integer(number)
    }
}
