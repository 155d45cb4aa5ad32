/// Why a policy fails, or what it did that it may not.
///
/// Reports name only the type of other errors that a policy throws: they may hold what users wrote.
package struct PolicyFailure: Error, CustomStringConvertible {
    /// Names, numbers and fixed words, never a value of a row.
    package let description: String

    package init(_ description: String) { self.description = description }

    /// What a report may say about an error that a policy throws.
    ///
    /// - Parameter error: of the policy, or of the engine.
    /// - Returns: the words of a failure, else the name of the error's type.
    static func text(of error: any Error) -> String {
        switch error {
        case let failure as PolicyFailure: failure.description
        default: "it threw \(type(of: error))"
        }
    }
}
