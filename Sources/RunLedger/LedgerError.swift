package import DurableFiles
package import Jobs

/// Why the ledger could not be opened, read or written.
package struct LedgerError: Error, Hashable, Sendable {
    /// What stood in the way.
    package enum Kind: Hashable, Sendable {
        /// Another process owns the folder; the text is what it wrote about itself.
        case locked(holder: String)
        /// The folder lies on a file system that other machines may write.
        case networkFileSystem(name: String)
        /// The ledger's schema is newer than this program.
        case laterVersion(found: Int, known: Int)
        /// The ledger's schema is older, and reading alone does not change it.
        case earlierVersion(found: Int, known: Int)
        /// The file is no ledger, or parts of it are unreadable.
        case damaged(reason: String)
        /// There is no ledger to read.
        case missing
        /// It is a copy of the ledger of another folder, which is still there.
        case copied(from: FilePath)
        /// No space, inodes or quota are left.
        case noSpace(reason: String)
        /// Reading or writing failed; the text names the step.
        case inputOutput(reason: String)
        /// A write failed earlier: nothing more is written until the ledger is opened again.
        case refusing(reason: String)
        /// The ledger was closed, or opened for reading alone.
        case notWritable
        case unknownRun(String)
        case unknownStore(run: String, Int)
        case unknownAttempt(run: String, String)
        /// A run's id, a store's number or path, or an attempt's id is there already.
        case duplicate(String)
        /// A state machine forbids the change.
        case illegalTransition(of: String, from: String, to: String)
        /// The job has an accepted attempt: this one.
        case alreadyAccepted(attempt: String)
        /// The job's epoch is higher.
        case staleEpoch(Int, current: Int)
        /// The attempt had ended already.
        case attemptEnded(String)
        /// Accepted jobs rest on another preparation.
        case progressDepends(store: Int)
        /// A value that no ledger holds, such as a negative number of bytes.
        case refusedValue(String)
    }

    /// The ledger's file.
    package let ledger: FilePath
    package let kind: Kind

    package init(ledger: FilePath, kind: Kind) {
        self.ledger = ledger
        self.kind = kind
    }
}

extension LedgerError {
    /// What decides what the failure leads to.
    package var cause: FailureCause {
        switch kind {
        case .locked: .locked
        case .noSpace: .noSpace
        case .networkFileSystem, .laterVersion, .earlierVersion, .damaged, .missing,
            .inputOutput, .refusing, .copied:
            .inputOutput
        case .notWritable, .unknownRun, .unknownStore, .unknownAttempt, .duplicate,
            .illegalTransition, .alreadyAccepted, .staleEpoch, .attemptEnded, .progressDepends,
            .refusedValue:
            .bug
        }
    }

    /// Whether another process owns the ledger.
    package var isLocked: Bool {
        if case .locked = kind { true } else { false }
    }

    /// Whether room may come, so that a run can wait and append the same again.
    package var isOutOfSpace: Bool {
        if case .noSpace = kind { true } else { false }
    }
}

extension LedgerError: CustomStringConvertible {
    /// What failed, which ledger, that the originals are whole, and what to do next.
    package var description: String {
        "the ledger \(ledger) \(words); the original stores are whole; \(hint)"
    }

    private var words: String {
        switch kind {
        case .locked(let holder): "is in use by \(holder)"
        case .networkFileSystem(let name):
            "would lie on a network file system (\(name)), where locks and syncs cannot be trusted"
        case .laterVersion(let found, let known):
            "has schema version \(found), but this program supports versions up to \(known)"
        case .earlierVersion(let found, let known):
            "has schema version \(found), but this program reads version \(known)"
        case .damaged(let reason): "is damaged: \(reason); nothing was removed"
        case .missing: "does not exist"
        case .copied(let folder):
            "is a copy of the one in \(folder), whose runs and stores it names"
        case .noSpace(let reason): "could not be written because no space is left: \(reason)"
        case .inputOutput(let reason): "could not be read or written: \(reason)"
        case .refusing(let reason):
            "accepts no more records because a write failed: \(reason)"
        case .notWritable: "is closed or open for reading only"
        case .unknownRun(let run): "has no run \(run)"
        case .unknownStore(let run, let store): "has no store \(store) in the run \(run)"
        case .unknownAttempt(let run, let attempt):
            "has no such attempt \(attempt) in the run \(run)"
        case .duplicate(let what): "has \(what) already"
        case .illegalTransition(let what, let from, let to):
            "does not allow \(what) to change from \(from) to \(to)"
        case .alreadyAccepted(let attempt): "has accepted the job's attempt \(attempt) already"
        case .staleEpoch(let epoch, let current):
            "refuses epoch \(epoch): the job is at epoch \(current)"
        case .attemptEnded(let attempt): "recorded earlier that the attempt \(attempt) ended"
        case .progressDepends(let store):
            "holds accepted jobs of store \(store) that depend on another source, plan or engine"
        case .refusedValue(let reason): "refuses such a record: \(reason)"
        }
    }

    private var hint: String {
        switch kind {
        case .locked: "wait until it has ended, or choose another state folder"
        case .networkFileSystem: "choose a state folder on a local disk"
        case .laterVersion: "use the newer program that wrote it, or choose another state folder"
        case .earlierVersion: "start the run with this program once, which upgrades the ledger"
        case .damaged:
            "keep a copy and check the disk; to start over, choose another state folder"
        case .missing: "check the path of the state folder"
        case .copied:
            "use that state folder. To test with copies of stores, use an empty one"
        case .noSpace: "free space or inodes on its file system, then try again"
        case .inputOutput, .refusing:
            "check the disk, then start the same command again: it resumes where the ledger ends"
        case .notWritable, .unknownRun, .unknownStore, .unknownAttempt, .duplicate,
            .illegalTransition, .progressDepends, .refusedValue:
            "this is a bug: please report it with this message"
        case .alreadyAccepted, .staleEpoch, .attemptEnded:
            "the attempt's files are not used and can be removed"
        }
    }
}
