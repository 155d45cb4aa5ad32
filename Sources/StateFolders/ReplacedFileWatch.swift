package import DurableFiles
import MigrationEngine
package import StoreLocks
package import StoreSwap
import Synchronization
import Threads

/// A program that opened a store's old file after the store's name had changed hands.
package struct LateClient: Hashable, Sendable {
    package let store: FilePath
    package let users: [FileUser]
    /// Why the old file could not be made harmless; nil where it was.
    package let failure: String?
    /// Whether this process, which alone keeps the file locked, waits for the program to close it.
    package var isWaitedFor = false

    /// What happened, and what to do.
    package var description: String {
        let what =
            "\(FileUser.words(users)) opened the old file of \(store) while the store was "
            + "replaced"
        if isWaitedFor {
            return "\(FileUser.words(users)) still has the old file of \(store) open. Godwit "
                + "keeps the file locked and waits until the program closes it. Restart the "
                + "program, or reopen the store in it"
        }
        if let failure {
            return "\(what), and that file could not be made unusable: \(failure). Godwit "
                + "keeps it locked as long as the program has it open. Restart the program, or "
                + "reopen the store in it"
        }
        return "\(what), and finds no database in it. Restart the program, or reopen the store in "
            + "it"
    }
}

/// Keeps files that lost a store's name until no program can come that looked the name up before,
/// and acts on those that do.
///
/// A program that comes too late waits in open(2), because of the lease, until the file that it
/// waits for has become unusable; a backup that was a second name of that file has become a copy
/// before. One thread looks at all files, and lives only while there are any.
package final class ReplacedFileWatch: Sendable {
    private let state: Watched
    private let thread = Mutex<OwnedThread?>(nil)
    private let outlivesProcess: @Sendable () -> Bool

    /// How long a file is kept, in milliseconds.
    ///
    /// From the lookup of a name to the lease takes a program microseconds, or as long as it is not
    /// scheduled there. A control group that has used its share of a processor waits for up to 100
    /// ms.
    static let grace: Int64 = 250
    /// How long where there are more than `limit` files.
    static let shortGrace: Int64 = 50
    /// How long the end of a command waits for programs that came too late, where a guardian keeps
    /// them locked out afterwards; elsewhere it says after this time that it waits.
    static let patience: Int64 = 1000
    /// Files that are kept for the whole of `grace`: each takes a descriptor.
    static let limit = 128
    /// Between two looks, in milliseconds.
    static let interval: Int64 = 20

    /// - Parameters:
    ///   - files: through which backups are copied.
    ///   - outlivesProcess: whether files stay locked after this process has ended.
    ///   - report: called for each program that came too late, on a thread of this.
    package init(
        files: DurableFileSystem = DurableFileSystem(),
        outlivesProcess: @escaping @Sendable () -> Bool = { ReplacedFile.outlivesProcess },
        report: @escaping @Sendable (LateClient) -> Void = { _ in }
    ) {
        self.outlivesProcess = outlivesProcess
        state = Watched(files: files, report: report)
    }

    /// Keeps the files that a swap or a rollback replaced.
    ///
    /// - Parameters:
    ///   - files: the replaced ones.
    ///   - swap: the plan of the swap.
    ///   - recording: writes down what a backup became, before it does; on a thread of this.
    package func keep(
        _ files: [ReplacedFile], of swap: SwapPlan,
        recording: @escaping @Sendable ([BackupRecord.Entry]) throws -> Void = { _ in }
    ) {
        guard !files.isEmpty else { return }
        state.add(files.map { Watched.Entry(file: $0, swap: swap, recording: recording) })
        thread.withLock { thread in
            guard state.begins() else { return }
            thread?.join()
            do throws(ThreadError) {
                thread = try OwnedThread(name: "replaced-files") { [state] in
                    while state.look() {
                        ReplacedFile.pause(ReplacedFileWatch.interval)
                    }
                }
            } catch {
                // `finish` looks then.
                thread = nil
                state.ended()
            }
        }
    }

    /// Waits until every file that is kept can do no harm, and lets them go.
    ///
    /// A program that came too late and has the old file open would change the new store once the
    /// file is not locked any more. Where nothing keeps it locked after this process, this waits
    /// for that program without limit; a signal ends the process all the same.
    ///
    /// - Complexity: at most `grace` milliseconds where no program came too late.
    package func finish() {
        var waited: Int64 = 0
        while state.look() {
            ReplacedFile.pause(ReplacedFileWatch.interval)
            waited += ReplacedFileWatch.interval
            guard waited >= ReplacedFileWatch.patience else { continue }
            if outlivesProcess() { break }
            if waited == ReplacedFileWatch.patience { state.reportWaiting() }
        }
        state.releaseAll()
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    deinit {
        state.releaseAll()
        thread.withLock { $0?.join() }
    }
}

/// The files that are kept, as the thread and the commands see them.
private final class Watched: Sendable {
    struct Entry {
        let file: ReplacedFile
        let swap: SwapPlan
        let recording: @Sendable ([BackupRecord.Entry]) throws -> Void
        /// Whether a program came too late.
        var isLate = false
        /// Whether that was reported.
        var isReported = false
    }

    private struct State {
        var entries: [Entry] = []
        var isRunning = false
    }

    private let state = Mutex(State())
    /// Held while files are looked at, so that each is acted on once.
    private let looking = Mutex(())
    private let files: DurableFileSystem
    private let report: @Sendable (LateClient) -> Void

    init(files: DurableFileSystem, report: @escaping @Sendable (LateClient) -> Void) {
        self.files = files
        self.report = report
    }

    func add(_ entries: [Entry]) {
        state.withLock { $0.entries += entries }
    }

    /// Whether a thread is to begin now.
    func begins() -> Bool {
        state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
    }

    func ended() { state.withLock { $0.isRunning = false } }

    /// Looks at every file once; false, and the thread ends, where none is left.
    func look() -> Bool {
        looking.withLock { _ in
            let entries = state.withLock { $0.entries }
            var kept: [Entry] = []
            for (index, entry) in entries.enumerated() {
                let isMany = entries.count - index > ReplacedFileWatch.limit
                let limit = isMany ? ReplacedFileWatch.shortGrace : ReplacedFileWatch.grace
                if let entry = keep(entry, for: limit) { kept.append(entry) }
            }
            return state.withLock { state in
                state.entries = kept + state.entries.dropFirst(entries.count)
                if state.entries.isEmpty { state.isRunning = false }
                return !state.entries.isEmpty
            }
        }
    }

    /// The entry as it is kept on; nil where its file is let go.
    private func keep(_ entry: Entry, for limit: Int64) -> Entry? {
        if entry.file.isUnopened() {
            guard !entry.isLate, entry.file.age < limit || entry.file.isAboutToBeOpened else {
                // It has closed the file again before it could be seen.
                if entry.isLate, !entry.isReported { report(of: entry, []) }
                entry.file.release()
                return nil
            }
            return entry
        }
        var entry = entry
        if entry.isLate {
            guard !entry.isReported else { return entry }
            // Only now: a program that waits in open(2) has nothing that names the file.
            let users = entry.file.users()
            guard !users.isEmpty else { return entry }
            report(of: entry, users)
            entry.isReported = true
            return entry
        }
        entry.isLate = true
        do {
            try BackupSeparation(files: files).run(
                entry.file, of: entry.swap, recording: entry.recording)
        } catch {
            // As the kernel does by itself after a while; then it shows who has the file open.
            entry.file.admitWaiting()
            report(of: entry, entry.file.users(), failure: "\(error)")
            entry.isReported = true
        }
        return entry
    }

    private func report(of entry: Entry, _ users: [FileUser], failure: String? = nil) {
        report(LateClient(store: entry.swap.store.path, users: users, failure: failure))
    }

    /// Reports the programs that are waited for.
    func reportWaiting() {
        for entry in state.withLock({ $0.entries }) where entry.isLate {
            report(
                LateClient(
                    store: entry.swap.store.path, users: entry.file.users(), failure: nil,
                    isWaitedFor: true))
        }
    }

    func releaseAll() {
        state.withLock { state in
            for entry in state.entries { entry.file.release() }
            state.entries = []
        }
    }
}
