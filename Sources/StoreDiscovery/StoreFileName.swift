import DurableFiles

/// What the name of a file or folder says about it.
enum StoreFileName {
    /// Extensions that Core Data's documentation and templates give to stores.
    private static let coreDataExtensions = ["sqlite", "sqlite3", "store", "storedata"]
    /// Extensions that stores have, too, and many other files.
    private static let otherExtensions = ["db"]

    /// What SQLite adds to the name of a database.
    private static let companionSuffixes = StoreCompanion.allCases.map(\.rawValue)

    /// Whether a file of this name is a store unless it is damaged.
    static func isCoreDataExtension(of path: FilePath) -> Bool {
        hasExtension(path, among: coreDataExtensions)
    }

    /// Whether a file of this name may well be a store.
    static func isStoreExtension(of path: FilePath) -> Bool {
        hasExtension(path, among: coreDataExtensions + otherExtensions)
    }

    /// Whether what has this name, and cannot be looked at, may be a store or a folder of stores.
    ///
    /// A short extension that stores do not have names a file of another kind.
    static func mayBeStoreOrFolder(_ name: FilePath) -> Bool {
        guard let ending = fileExtension(of: name), !isStoreExtension(of: name) else { return true }
        let isShort = ending.count <= 4
        return !isShort
            || !ending.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
    }

    /// Whether a name is one of ours: run folders, unpublished results, kept originals.
    static func isOurs(_ name: some Collection<UInt8>) -> Bool {
        name.starts(with: ".godwit".utf8)
    }

    /// Whether a folder holds a store's external data: `.NAME_SUPPORT`.
    static func isSupportFolder(_ name: some BidirectionalCollection<UInt8>) -> Bool {
        name.first == UInt8(ascii: ".")
            && name.suffix(StoreLocation.supportSuffix.utf8.count)
                .elementsEqual(StoreLocation.supportSuffix.utf8)
    }

    /// Whether the file holds what macOS keeps beside a file on other file systems.
    static func isAppleDouble(_ name: FilePath) -> Bool { name.bytes.starts(with: "._".utf8) }

    /// The name of the database whose companion file a name would be; nil for other names.
    static func databaseName(ofCompanion name: FilePath) -> FilePath? {
        for suffix in companionSuffixes where name.bytes.count > suffix.utf8.count {
            if name.bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) {
                return FilePath(bytes: name.bytes.dropLast(suffix.utf8.count))
            }
        }
        return nil
    }

    /// Whether the name is that of a write-ahead log.
    static func isLog(_ name: FilePath) -> Bool {
        name.bytes.suffix(4).elementsEqual(StoreCompanion.writeAheadLog.rawValue.utf8)
    }

    private static func hasExtension(_ path: FilePath, among extensions: [String]) -> Bool {
        guard let ending = fileExtension(of: path) else { return false }
        return extensions.contains { ending.elementsEqual($0.utf8) }
    }

    /// What follows the last dot of a name, in lower case; nil for a name without one, and for
    /// one that begins with its only dot.
    static func fileExtension(of path: FilePath) -> [UInt8]? {
        let name = path.lastComponent.bytes
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex,
            dot + 1 < name.endIndex
        else { return nil }
        return name[(dot + 1)...].map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    }
}
