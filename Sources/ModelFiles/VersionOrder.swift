import Foundation

/// The order of the versions of a bundle, by their names and by which of them is current.
package enum VersionOrder {
    /// Names as people count: `2.9` before `2.10`, `App` before `App 2`.
    package static func sorted(_ names: some Sequence<String>) -> [String] {
        names.sorted { precedes($0, $1) }
    }

    private static func precedes(_ left: String, _ right: String) -> Bool {
        switch left.compare(right, options: [.numeric]) {
        case .orderedAscending: true
        case .orderedDescending: false
        case .orderedSame: left < right
        }
    }

    /// The versions that are newer than one of them: the current one, and those after it by name.
    ///
    /// - Parameters:
    ///   - chosen: the version in question. Nothing is newer than the current one.
    ///   - current: of the bundle, where that names one.
    ///   - all: names of all versions.
    /// - Returns: their names, in their natural order.
    package static func newer(
        than chosen: String, current: String?, all: some Sequence<String>
    ) -> [String] {
        guard chosen != current else { return [] }
        return sorted(all).filter { $0 == current || precedes(chosen, $0) }
    }
}
