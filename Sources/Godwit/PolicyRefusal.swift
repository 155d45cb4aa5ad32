/// The reason why a policy fails.
///
/// The reason is fixed text: reports and logs show it, and must not hold what a user wrote. Of any
/// other error that a policy throws, reports show the type alone.
public struct PolicyRefusal: Error {
    /// The words.
    public let reason: StaticString

    /// Makes an error.
    ///
    /// - Parameter reason: a part of a sentence, such as `the number is no ISO 3166 code`.
    public init(_ reason: StaticString) { self.reason = reason }
}
