import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions
import MappingModel
package import SafeSQLite

/// What an input of a computed cell holds, by SQLite's storage classes; bytes are where they stand.
package enum StoredInput {
    case null
    case integer(Int64)
    case real(Double)
    case text(UnsafeRawBufferPointer)
    case blob(UnsafeRawBufferPointer)

    /// An argument of a function.
    init(_ arguments: FunctionArguments, _ place: Int) {
        self =
            switch arguments.storageClass(place) {
            case 1: .integer(arguments.integer(place))
            case 2: .real(arguments.real(place))
            case 3: .text(arguments.text(place))
            case 4: .blob(arguments.bytes(place))
            default: .null
            }
    }
}

/// Gives the values of a computed cell for rows that no statement reads.
///
/// It says what `ValueFunction` says. Where a value cannot be computed, a statement has the words
/// for it.
package final class CellComputer {
    private let cell: ComputedCell
    /// Gives most values; nil where the evaluator gives all.
    private let plain: PlainCell?
    private let evaluator: ExpressionEvaluator<NoObjects>

    /// Nil for a cell that reads more than columns of its own row, or calls methods of a policy.
    package init?(_ cell: ComputedCell) {
        guard Self.canCompute(cell) else { return nil }
        self.cell = cell
        plain = PlainCell(cell)
        evaluator = ExpressionEvaluator(NoObjects(), now: cell.now)
    }

    /// Whether there is a computer for a cell.
    package static func canCompute(_ cell: ComputedCell) -> Bool {
        cell.tree == nil && cell.policy == nil
            && cell.inputs.allSatisfy { $0.steps.isEmpty && $0.reduction == nil }
    }

    /// The value for a row.
    ///
    /// - Parameters:
    ///   - input: gives an input by its number.
    ///   - text: gets the bytes of a text, before this returns `given`.
    /// - Returns: nil for a value that cannot be computed, or is missing where one is required.
    package func value(
        _ input: (Int) -> StoredInput, text: (UnsafeRawBufferPointer) -> Void
    ) -> FunctionResult? {
        if let known = plain?.result(input, text: text) { return known }
        var variables: [String: ExpressionValue<Never>] = [:]
        for number in cell.inputs.indices {
            variables[ComputedValue.name(of: number)] =
                StoredCell(input(number)).map {
                    .scalar($0.value(cell.inputs[number].valueType))
                } ?? .null
        }
        do throws(ExpressionError) {
            let value = try ValueFunction.replacing(cell, evaluator, variables)
            if case .null = value, cell.isRequired { return nil }
            return value
        } catch {
            return nil
        }
    }
}

extension StoredCell {
    /// An input with its bytes; nil for NULL.
    init?(_ input: StoredInput) {
        switch input {
        case .null: return nil
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .text(let bytes): self = .text(StoredText.string(bytes))
        case .blob(let bytes): self = .blob(Array(bytes))
        }
    }
}
