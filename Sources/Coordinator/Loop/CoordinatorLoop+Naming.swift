import ClusterCore
import ClusterProtocol
import DurableFiles
import Jobs
import RunService
import RunLedger

// What people know stores and files by.

extension CoordinatorLoop {
    /// Kinds of notes that are told with the file of their store: those of something that went
    /// wrong.
    private static var namedKinds: Set<String> {
        [
            "store-failed", "store-cancelled", "attempt-failed", "lease-expired",
            "chunk-quarantined",
        ]
    }

    /// A note with the file of its store, where there is one and people want to know it.
    func named(_ note: WatchNote) -> WatchNote {
        guard Self.namedKinds.contains(note.kind), let run = note.run, let store = note.store,
            let found = handles[run]?.stores[store]
        else { return note }
        // On one machine most texts have the path already.
        if !plan.resumesRuns, note.text.contains("\(found.path)") { return note }
        return WatchNote(
            run: run, store: store, kind: note.kind,
            text: "\(Self.name(of: found.path, plan)): \(note.text)")
    }

    /// The file by its root, as every machine may have that elsewhere; by its path where all is
    /// on one machine.
    static func name(of path: FilePath, _ plan: CoordinatorPlan) -> String {
        guard plan.resumesRuns else { return "\(path)" }
        do throws(RunError) {
            return "\(try plan.runs.roots.reference(to: path))"
        } catch {
            return "\(path)"
        }
    }

    /// The most files that are named in a note.
    private static var namedFiles: Int { 5 }

    /// Remembers what a run's last discovery left out, for all who ask for the run later; of the
    /// newest runs alone.
    func noteLeftOut(_ files: [String], of run: String) {
        leftOut.removeAll { $0.run == run }
        guard !files.isEmpty else { return }
        var named = files.prefix(Self.namedFiles).joined(separator: "; ")
        if files.count > Self.namedFiles {
            named += "; and \(files.count - Self.namedFiles) more"
        }
        let words = files.count == 1 ? "file was" : "files were"
        let note = WatchNote(
            run: run, store: nil, kind: WatchNote.filesLeftOut,
            text: "\(files.count) \(words) left out that may hold a user's data: \(named)")
        leftOut.append(note)
        if leftOut.count > Self.shownRuns { leftOut.removeFirst() }
        dependencies.note(note.line)
        publish(.note(note), run: run)
    }

    /// Tells a watcher what was left out before it came.
    func tellLeftOut(_ run: String?, _ client: ClientID) {
        for note in leftOut where run == nil || run == note.run {
            answer(.event(.note(note)), to: client)
        }
    }
}
