import ExpressionEvaluation
import Foundation
import GRDB
import ManagedObjectModel
import MappingExpressions
import MappingModel

/// The inputs of a value in a call of its function, as a program of plain values takes them.
struct PlainInputs {
    private var values: [PlainValue?] = []
    /// The bytes of all texts, and where each is.
    private var bytes: [UInt8] = []
    private var ranges: [Range<Int>] = []

    /// The program of a cell; nil where only an evaluator gives its value.
    static func program(of cell: ComputedCell) -> PlainProgram? {
        guard cell.tree == nil, cell.policy == nil else { return nil }
        let names = cell.value.inputs.indices.map { (ComputedValue.name(of: $0), $0) }
        return PlainProgram(
            cell.value.expression, inputs: Dictionary(uniqueKeysWithValues: names), now: cell.now)
    }

    /// - Parameters:
    ///   - arguments: one for each input of the cell; texts as blobs.
    ///   - cell: whose function was called.
    init(_ arguments: ArraySlice<DatabaseValue>, of cell: ComputedCell) {
        for (number, argument) in arguments.enumerated() {
            let type = cell.inputs[number].valueType
            let start = bytes.count
            var value: PlainValue?
            switch (argument.storage, type) {
            case (.null, _): value = .null
            case (.blob(let text), .string):
                bytes += text
                value = bytes[start...].withUnsafeBytes { PlainText(input: number, $0) }
                    .map { .text($0) }
            case (_, .decimal), (.string, _), (.blob, _): value = nil
            case (.int64(let whole), .boolean): value = .boolean(whole != 0)
            case (.int64(let whole), .double), (.int64(let whole), .float):
                value = .real(Double(whole))
            case (.int64(let whole), .date): value = .date(Double(whole))
            case (.int64(let whole), _): value = .integer(whole)
            case (.double(let number), .date): value = .date(number)
            case (.double(let number), _): value = .real(number)
            }
            values.append(value)
            ranges.append(start..<bytes.count)
        }
    }

    /// What a program gives for the inputs; nil where an evaluator must decide, and nil within for
    /// no value.
    func value(of program: PlainProgram) -> DefaultValue?? {
        bytes.withUnsafeBytes { all in
            let text = { (input: Int) in UnsafeRawBufferPointer(rebasing: all[ranges[input]]) }
            switch program.value({ values[$0] }, bytes: text) {
            case nil: return nil
            case .text(let found)?: return .text(program.string(found, bytes: text))
            case let found?: return .some(found.scalar)
            }
        }
    }
}
