import CoreDataStore
import DurableFiles
import Foundation
import MigrationEngine

/// How a result gets its name, as it is written to the ledger before anything moves.
struct Move: Codable {
    /// Where the result goes.
    enum Way: Codable {
        /// Into the output folder, beside the untouched original.
        case publish(PublishPlan)
        /// Into the store's own place.
        case swap(SwapPlan)
    }

    let way: Way
    /// What is told of the store once it has moved; nil from then on, when its report tells it.
    let result: StoreResult?

    /// Reads the text that `text` wrote.
    ///
    /// - Throws: `RunError.engine` for a text of another version of the program.
    init(reading text: String) throws(RunError) {
        do {
            self = try JSONDecoder().decode(Move.self, from: Data(text.utf8))
        } catch {
            throw .engine(.wrongPlan("a swap in the ledger cannot be read: \(error)"))
        }
    }

    init(_ way: Way, _ result: StoreResult?) {
        self.way = way
        self.result = result
    }

    /// JSON with sorted keys.
    func text() throws(RunError) -> String { try RecordedText.text(of: self) }
}

/// Values as texts of the ledger.
enum RecordedText {
    /// JSON with sorted keys.
    static func text(of value: some Encodable) throws(RunError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            throw .engine(.internalError("a record has no text: \(error)"))
        }
    }
}

/// The renames that give a result its name in the output folder.
///
/// The database comes last: once it is there, all of the result is.
struct PublishPlan: Codable {
    let building: PlannedFile
    let output: FilePath
    /// The folder of external data and its final name.
    let support: Support?

    struct Support: Codable {
        let from: FilePath
        let to: FilePath
        let inode: UInt64
    }

    /// Looks at what was built.
    ///
    /// - Throws: `DurableFileError`.
    init(_ places: StorePlaces, output: FilePath) throws(DurableFileError) {
        building = try PlannedFile(at: places.building)
        self.output = output
        support = try FileStatus.ifPresent(places.buildingSupport).map { status in
            Support(
                from: places.buildingSupport, to: SupportFolder.folder(ofStore: output),
                inode: status.identity.inode)
        }
    }

    /// Carries the plan out, or what is left of it; contents were synced before, and the output's
    /// folder is synced by the caller.
    ///
    /// - Throws: `DurableFileError`; the folder of external data keeps its name only beside the
    ///   database.
    func run(_ files: DurableFileSystem) throws(DurableFileError) {
        if let there = try FileStatus.ifPresent(output), building.isFile(there.identity) { return }
        var moved: Support?
        if let support {
            let there = try FileStatus.ifPresent(support.to)
            if there?.identity.inode != support.inode {
                try files.rename(support.from, to: support.to, existing: .refuse)
            }
            moved = support
        }
        do throws(DurableFileError) {
            try files.rename(building.path, to: output, existing: .refuse)
        } catch {
            // Where the database did not get its name, its data must not keep theirs.
            if let moved, try FileStatus.ifPresent(building.path) != nil {
                try files.rename(moved.to, to: moved.from, existing: .refuse)
            }
            throw error
        }
    }
}
