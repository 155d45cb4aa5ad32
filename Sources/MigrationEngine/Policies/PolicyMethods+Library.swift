import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions
import MigrationPlans

extension PolicyLibrary {
    /// Answers the calls of expressions: one object of each policy for one connection.
    var methods: PolicyMethods {
        { className in
            guard let entry = entry(className) else { return nil }
            // A connection is used by one thread at a time.
            nonisolated(unsafe) let code = entry.make()
            return { _, selector, arguments throws(ExpressionError) in
                var values: [DefaultValue?] = []
                for argument in arguments {
                    switch argument {
                    case .null: values.append(nil)
                    case .scalar(let value): values.append(value)
                    case .object, .collection:
                        throw ExpressionError(
                            .evaluation, "\(selector) is called with more than one value")
                    }
                }
                do {
                    let value = try code.value(of: selector, arguments: values)
                    return value.map { .scalar($0) } ?? .null
                } catch {
                    throw ExpressionError(
                        .evaluation,
                        "policy \(className), \(selector): \(PolicyFailure.text(of: error))")
                }
            }
        }
    }
}
