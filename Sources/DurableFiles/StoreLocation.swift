/// A file that SQLite keeps beside a database, under the database's name and a suffix.
package enum StoreCompanion: String, Hashable, Sendable, Codable, CaseIterable {
    case writeAheadLog = "-wal"
    /// The index of a write-ahead log; it holds nothing that is not in the log.
    case sharedMemory = "-shm"
    case rollbackJournal = "-journal"

    /// Those that may hold what the database does not.
    package static let withContent: [StoreCompanion] = [.writeAheadLog, .rollbackJournal]
}

/// Where a store lies: its database, and what belongs to it by the database's name.
package struct StoreLocation: Hashable, Sendable {
    /// The database file.
    package let database: FilePath

    package init(_ database: FilePath) { self.database = database }

    /// The path of one of SQLite's files beside the database.
    package func companion(_ kind: StoreCompanion) -> FilePath {
        database.adding(suffix: kind.rawValue)
    }

    /// The paths of all files that SQLite may keep beside the database.
    package var companions: [FilePath] { StoreCompanion.allCases.map(companion) }

    /// The database and all files that SQLite may keep beside it.
    package var files: [FilePath] { [database] + companions }

    /// `.NAME_SUPPORT` beside the database, NAME without its extension: what Core Data keeps there.
    package var support: FilePath {
        let name = database.lastComponent.bytes
        let dot = name.lastIndex(of: UInt8(ascii: "."))
        let stem = dot.map { $0 > name.startIndex ? name[..<$0] : name[...] } ?? name[...]
        return database.parent.appending(
            FilePath(bytes: Array(".".utf8) + stem + Array(Self.supportSuffix.utf8)))
    }

    /// What the name of `support` ends in.
    package static let supportSuffix = "_SUPPORT"

    /// The folder in `support` of the files that values refer to.
    package var externalData: FilePath { support.appending(Self.externalDataName) }

    /// The name of the folder of the files that values refer to.
    package static let externalDataName = "_EXTERNAL_DATA"
}

// As the path of the database: records of earlier versions hold that.
extension StoreLocation: Codable {
    package init(from decoder: any Decoder) throws {
        self.init(try FilePath(from: decoder))
    }

    package func encode(to encoder: any Encoder) throws {
        try database.encode(to: encoder)
    }
}

extension StoreLocation: CustomStringConvertible {
    package var description: String { database.description }
}
