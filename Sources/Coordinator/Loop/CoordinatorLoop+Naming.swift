import ClusterProtocol
import ClusterVocabulary
import DurableFiles
import Jobs
import RunLedger
import RunMoves
import RunService
import StateFolders
import StoreRuns

// What people know stores and files by, and what operators read of messages that cannot be read.

extension CoordinatorLoop {
    /// A note with the file of its store, where something went wrong with one that is at hand.
    func named(_ note: Note) -> Note {
        guard case .store(let key, nil, let change) = note, change.isTrouble,
            let found = handles[key.run]?.stores[key.number]
        else { return note }
        return .store(key, file: Self.name(of: found.path, plan), change)
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

    /// Remembers what a run's last discovery left out, for all who ask for the run later; of the
    /// newest runs alone.
    func noteLeftOut(_ files: [String], of run: String) {
        leftOut.removeAll { $0.run == run }
        guard !files.isEmpty else { return }
        let note = Note.run(
            run,
            .filesLeftOut(count: files.count, files: Array(files.prefix(Note.mostFiles))))
        leftOut.append(note)
        if leftOut.count > Self.shownRuns { leftOut.removeFirst() }
        dependencies.tell(note)
        publish(.note(note), run: run)
    }

    /// Tells a watcher what was left out before it came.
    func tellLeftOut(_ run: String?, _ client: ClientID) {
        for note in leftOut where run == nil || run == note.run {
            answer(.event(.note(note)), to: client)
        }
    }
}

// MARK: - Messages that cannot be read

extension PeerRefusal {
    /// Numbers of what workers say, and of what clients ask.
    private static let (workerTypes, clientTypes) = (1...31, 65...95)

    /// The refusal of a message that cannot be read.
    init(_ error: ProtocolError, of peer: PeerConnections.Peer) {
        switch (peer.identity, error) {
        case (.worker(_, let name), .unknownType(let number))
        where Self.clientTypes.contains(number):
            self = .workerKeyOfClient(worker: name)
        case (.client, .unknownType(let number)) where Self.workerTypes.contains(number):
            self = .clientKeyOfWorker
        default: self = .unreadable(peer: Self.name(of: peer), text: "\(error)")
        }
    }

    private static func name(of peer: PeerConnections.Peer) -> String {
        switch peer.identity {
        case .worker(_, let name): name
        case .client: "a client"
        case .local: peer.worker ?? "a program on this machine"
        }
    }
}
