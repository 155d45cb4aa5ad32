import DurableFiles
import MigrationEngine
import RunLedger
import Threads

/// Waits for room on a disk that is full, and tells the ledger and the observer so.
struct RoomWatch {
    let context: RunContext

    /// Seconds between two looks.
    static let interval = 2.0
    /// Bytes that must have come free before another try is worth it.
    static let worthwhile: Int64 = 1 << 20

    /// Returns once the file systems of the store have more room than when the disk was found
    /// full, or as soon as nothing is known of them (a quota).
    ///
    /// - Throws: `RunError` where the file systems or the ledger cannot be read.
    func wait(for error: RunError, beside places: StorePlaces) throws(RunError) {
        let paths = [places.building.parent, context.state]
        let before = try room(paths)
        let reason = "no room: \(error)"
        try change(.paused, reason)
        context.observe(.paused(reason))
        var looks = 0
        while true {
            context.environment.wait(Self.interval)
            looks += 1
            let now = try room(paths)
            let grew = zip(before, now).contains { $1 - $0 >= Self.worthwhile }
            // A quota shows in no count of free blocks: trying is the only way to know.
            let isQuota = before.allSatisfy { $0 > 64 * Self.worthwhile }
            if grew || isQuota && looks >= 5 { break }
            if context.slots.cancellation.isCancelled { throw .stopped }
        }
        try change(.open, "there is room again")
        context.observe(.resumed)
    }

    private func change(_ state: RunState, _ reason: String) throws(RunError) {
        let run = try context.read { ledger throws(LedgerError) in try ledger.run(context.id) }
        // Several stores may meet the same full disk.
        guard run?.state.canBecome(state) == true else { return }
        try RunBook(ledger: context.ledger, environment: context.environment).change(
            context.id, state, reason)
    }

    private func room(_ paths: [FilePath]) throws(RunError) -> [Int64] {
        try RunError.translating {
            try paths.map { path in
                let space = try FileSystemSpace(at: path)
                // A free inode counts like the room that may be missing beside it.
                return space.freeInodes == 0 ? 0 : space.freeBytes
            }
        }
    }
}
