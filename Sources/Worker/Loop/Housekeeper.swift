import ClusterProtocol
import DurableFiles
import Jobs
import MigrationEngine
import Synchronization
import Threads

/// A thread for what may take long although nobody waits for it: removing what unwanted attempts
/// have written, and asking file systems for their room.
final class Housekeeper: Sendable {
    private enum Errand: Sendable {
        case remove(Attempt)
        case measure
    }

    private let errands: BoundedMailbox<Errand>
    private let thread: OwnedThread
    private let room: Room

    /// What the thread has found.
    private final class Room: Sendable {
        let free: Atomic<Int64>

        init(_ free: Int64) { self.free = Atomic(free) }
    }

    /// Bytes that were free when they were last looked at; 0 without a scratch folder.
    var free: Int64 { room.free.load(ordering: .relaxed) }

    /// - Parameters:
    ///   - plan: names the roots and the scratch folder.
    ///   - note: is told what did not go well, on the thread.
    /// - Throws: `DurableFileError` for a root or a scratch folder that is not there, or
    ///   `ThreadError`.
    init(_ plan: WorkerPlan, note: @escaping @Sendable (WorkerNote) -> Void) throws {
        let environment = JobEnvironment(
            roots: try plan.slots.setup.roots.sorted { $0.key < $1.key }.map { name, folder in
                try FileRoot(name: name, folder: folder)
            })
        let (scratch, limit) = (plan.scratch, plan.scratchLimit)
        let room = Room(try Self.measure(scratch, limit))
        let errands = BoundedMailbox<Errand>(capacity: 1024)
        thread = try OwnedThread(name: "housekeeper") {
            while let errand = errands.receive() {
                switch errand {
                case .remove(let attempt): Self.remove(attempt, environment, note)
                case .measure:
                    do throws(DurableFileError) {
                        room.free.store(try Self.measure(scratch, limit), ordering: .relaxed)
                    } catch {
                        note(.cannotMeasure("\(error)"))
                    }
                }
            }
        }
        self.errands = errands
        self.room = room
    }

    deinit {
        errands.close()
        thread.join()
    }

    /// Has the files of an attempt removed, as far as that goes: where too much is to be removed
    /// they stay until their run's folder goes.
    func remove(_ attempt: Attempt) { _ = errands.sendIfRoom(.remove(attempt)) }

    /// Has the scratch folder looked at.
    func measure() { _ = errands.sendIfRoom(.measure) }

    private static func measure(
        _ scratch: FilePath?, _ limit: Int64
    ) throws(DurableFileError) -> Int64 {
        guard let scratch else { return 0 }
        return min(limit, try FileSystemSpace(at: scratch).freeBytes)
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
                guard try FileStatus.ifPresent(path) != nil else { return }
                try environment.files.removeTree(path)
            } catch {
                throw .file(error)
            }
        } catch {
            note(.cannotRemove(attempt: attempt.id, text: "\(error)"))
        }
    }
}
