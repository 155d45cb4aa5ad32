import ClusterProtocol
import DurableFiles
import Jobs
import MigrationEngine
import MigrationPlans
import Synchronization
import Threads

/// A thread for what may take long although no other thread waits for it: removing what unwanted
/// attempts have written, and asking file systems for their room.
final class Housekeeper: Sendable {
    private enum WorkItem: Sendable {
        case remove(Attempt)
        case measure([ScratchUse.Job])
    }

    private let workItems: BoundedMailbox<WorkItem>
    private let thread: OwnedThread
    private let room: Room

    /// What the thread has found.
    private final class Room: Sendable {
        let seen: Mutex<Seen>

        init(_ seen: Seen) { self.seen = Mutex(seen) }
    }

    private struct Seen {
        var free: Int64 = 0
        var use = ScratchUse()
    }

    /// Bytes of the scratch folder that were left to this worker when they were last looked at;
    /// 0 without a scratch folder.
    var free: Int64 { room.seen.withLock { $0.free } }

    /// What jobs took of the scratch folder when that was last looked at.
    var use: ScratchUse { room.seen.withLock { $0.use } }

    /// - Parameters:
    ///   - plan: names the roots and the scratch folder.
    ///   - note: is told what did not go well, on the thread.
    /// - Throws: `DurableFileError` for a root or a scratch folder that is not there, or
    ///   `ThreadError`.
    init(_ plan: WorkerPlan, note: @escaping @Sendable (WorkerNote) -> Void) throws {
        let environment = JobEnvironment(
            roots: try plan.slots.setup.roots.sorted { $0.key < $1.key }.map { name, folder in
                try FileRoot(name: name, folder: folder)
            }, files: DurableFileSystem(links: .refused))
        let (scratch, limit) = (plan.scratch, plan.scratchLimit)
        let room = Room(try Self.measure([], scratch, limit))
        let workItems = BoundedMailbox<WorkItem>(capacity: 1024)
        thread = try OwnedThread(name: "housekeeper") {
            while let workItem = workItems.receive() {
                switch workItem {
                case .remove(let attempt): Self.remove(attempt, environment, note)
                case .measure(let jobs):
                    do throws(DurableFileError) {
                        let seen = try Self.measure(jobs, scratch, limit)
                        room.seen.withLock { $0 = seen }
                    } catch {
                        note(.cannotMeasure("\(error)"))
                    }
                }
            }
        }
        self.workItems = workItems
        self.room = room
    }

    deinit {
        workItems.close()
        thread.join()
    }

    /// Has the files of an attempt removed, as far as that goes: where too much is to be removed
    /// they stay until their run's folder goes.
    func remove(_ attempt: Attempt) { _ = workItems.sendIfRoom(.remove(attempt)) }

    /// Has the scratch folder looked at, and what jobs take of it.
    func measure(_ jobs: [ScratchUse.Job]) { _ = workItems.sendIfRoom(.measure(jobs)) }

    private static func measure(
        _ jobs: [ScratchUse.Job], _ scratch: FilePath?, _ limit: Int64
    ) throws(DurableFileError) -> Seen {
        guard let scratch else { return Seen() }
        let use = try ScratchUse.measure(
            jobs, device: try FileStatus(of: scratch).identity.device)
        let left = limit - min(limit, use.total)
        return Seen(free: min(left, try FileSystemSpace(at: scratch).freeBytes), use: use)
    }

    private static func remove(
        _ attempt: Attempt, _ environment: JobEnvironment,
        _ note: @Sendable (WorkerNote) -> Void
    ) {
        do throws(EngineError) {
            let path = try environment.resolve(attempt.folder)
            // A folder that is a root's own belongs to no attempt.
            guard !environment.roots.values.contains(where: { $0.folder == path }) else {
                throw .internalError("its folder \(attempt.folder) is a root")
            }
            do throws(DurableFileError) {
                if try FileStatus.ifPresent(path) != nil {
                    try environment.files.removeTree(path)
                }
                try removeEmptyFolders(above: path, environment.files)
            } catch {
                throw .file(error)
            }
        } catch {
            note(.cannotRemove(attempt: attempt.id, text: "\(error)"))
        }
    }

    /// Removes the folders of a store's attempts where nothing is left in them.
    ///
    /// A store may have come to its end while this worker stood still: its attempt has made them
    /// again then, and no other process looks there any more.
    private static func removeEmptyFolders(
        above path: FilePath, _ files: DurableFileSystem
    ) throws(DurableFileError) {
        var above: [FilePath] = []
        var folder = path.parent
        // The places of a store: its attempts, and what it is built in.
        for _ in 0..<2 {
            above.append(folder)
            let name = folder.lastComponent.description
            if name.hasPrefix(DurableFileSystem.temporaryPrefix) {
                for folder in above { try files.removeEmptyFolder(folder) }
                return
            }
            folder = folder.parent
        }
    }
}
