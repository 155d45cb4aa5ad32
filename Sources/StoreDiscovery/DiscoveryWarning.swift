package import DurableFiles

/// Stores that get in each other's way.
package struct DiscoveryWarning: Hashable, Sendable {
    /// What the stores share.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// One file under several names: hard links, or paths through several mounts. It is
        /// migrated once for each name into an output, and once in place; a swap refuses hard
        /// links.
        case sameFile
        /// The path below the output.
        case sameResult
        /// The path below the output, on a file system that ignores case. In place all is well.
        case sameResultButForCase
        /// The folder of external data of the result: names that differ in nothing but the
        /// extension. Stores in one folder share it already.
        case sameSupportFolder
    }

    package let kind: Kind
    /// Two or more, in byte order.
    package let paths: [FilePath]

    /// All warnings about stores, by kind, and within a kind by path.
    ///
    /// - Parameter stores: in byte order.
    /// - Returns: one for each group of stores.
    /// - Complexity: O(bytes of paths); memory for the keys of one kind at a time.
    static func all(about stores: [DiscoveredStore]) -> [DiscoveryWarning] {
        let sameResults = groups(of: stores) { $0.relative }
        let sameFolders = groups(of: stores) { StoreLocation($0.relative).support }
        return warnings(
            .sameFile, groups(of: stores) { FileNumber(device: $0.device, inode: $0.inode) }, stores
        )
            + warnings(.sameResult, sameResults, stores)
            + warnings(
                .sameResultButForCase,
                groups(of: stores) { folded($0.relative) }.filter { !sameResults.contains($0) },
                stores)
            + warnings(
                .sameSupportFolder, sameFolders.filter { !sameResults.contains($0) }, stores)
    }

    /// What a file is known by whatever its names; an array would be an allocation for each store.
    private struct FileNumber: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    /// The places of stores with equal keys, two or more in a group, in the order of the first.
    private static func groups<Key: Hashable>(
        of stores: [DiscoveredStore], by key: (DiscoveredStore) -> Key
    ) -> [[Int]] {
        var first: [Key: Int] = [:]
        first.reserveCapacity(stores.count)
        var groups: [Int: [Int]] = [:]
        for (place, store) in stores.enumerated() {
            let key = key(store)
            if let start = first[key] {
                groups[start, default: [start]].append(place)
            } else {
                first[key] = place
            }
        }
        return groups.sorted { $0.key < $1.key }.map(\.value)
    }

    private static func warnings(
        _ kind: Kind, _ groups: [[Int]], _ stores: [DiscoveredStore]
    ) -> [DiscoveryWarning] {
        groups.map { group in DiscoveryWarning(kind: kind, paths: group.map { stores[$0].path }) }
    }

    /// The same text for paths that file systems may take for one: Swift's strings are equal
    /// whatever the normal form of their characters.
    private static func folded(_ path: FilePath) -> String {
        (path.string ?? path.description).lowercased()
    }
}

extension DiscoveryWarning: CustomStringConvertible {
    package var description: String {
        let names = paths.map(\.description).joined(separator: ", ")
        return switch kind {
        case .sameFile:
            "one file under several names (hard links or mounts): \(names). In place, Godwit "
                + "migrates it under the first name, and refuses hard links"
        case .sameResult: "stores whose results would have the same path: \(names)"
        case .sameResultButForCase:
            "results whose paths differ only in case: \(names). If the output's file system "
                + "ignores case, one would overwrite the other"
        case .sameSupportFolder:
            "stores that differ only in their extension share a folder of external data: "
                + "\(names)"
        }
    }
}
