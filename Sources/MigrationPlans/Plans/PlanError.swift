/// Why no plan can be made.
///
/// Nothing has been written when this is thrown.
package enum PlanError: Error, Hashable, Sendable {
    /// The mapping cannot be carried out on this layout; the text names the property.
    case unsupported(String)
    /// Keys would leave the range that a store can hold.
    case keyOverflow(table: String)
    /// The data break requirements of the mapping; one text each.
    case refused([String])
}

extension PlanError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unsupported(let text): text
        case .keyOverflow(let table):
            "primary keys of table \(table) would exceed 2⁶² after the source tables are merged"
        case .refused(let texts): texts.joined(separator: "\n")
        }
    }
}
