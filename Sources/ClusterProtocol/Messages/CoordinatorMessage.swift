package import Jobs

/// What a coordinator says to a worker.
package enum CoordinatorMessage: Hashable, Sendable {
    case welcome(Welcome)
    /// The worker cannot take part; it may try again later, with other versions or another key.
    case refused(Refusal)
    /// One job, or a batch of small stores.
    case jobs([JobOrder])
    /// The receipt is in the ledger; the worker forgets the attempt.
    case committed(attempt: String)
    /// The receipt was not accepted; the worker forgets the attempt and removes its files.
    case denied(attempt: String, reason: DenialReason)
    /// Stop the attempt: its lease is gone, or it is not wanted any more.
    case revoke(attempt: String)
    /// Take no new jobs, finish the running ones, leave.
    case drain
    case heartbeat
    case bye(reason: String)
}

/// The answer to a hello that was accepted.
package struct Welcome: Hashable, Sendable {
    /// A random id for each start of the coordinator.
    package let coordinator: String
    /// What both sides speak from here on.
    package let protocolVersion: Int
    /// How often either side lets the other hear from it.
    package let heartbeatMilliseconds: Int
    /// After so many silent heartbeats the other side is taken for gone.
    package let livenessBeats: Int
    /// Held attempts that go on.
    package let keep: [String]
    /// Held attempts that are not wanted any more.
    package let drop: [String]

    package init(
        coordinator: String, protocolVersion: Int, heartbeatMilliseconds: Int, livenessBeats: Int,
        keep: [String], drop: [String]
    ) {
        self.coordinator = coordinator
        self.protocolVersion = protocolVersion
        self.heartbeatMilliseconds = heartbeatMilliseconds
        self.livenessBeats = livenessBeats
        self.keep = keep
        self.drop = drop
    }
}

/// A job with the attempt that is to be made of it.
package struct JobOrder: Hashable, Sendable {
    package let job: Job
    /// Its id, its fence and the folder that is its alone.
    package let attempt: Attempt
    /// How long the attempt may be silent; each progress renews it.
    package let leaseMilliseconds: Int

    package init(job: Job, attempt: Attempt, leaseMilliseconds: Int) {
        self.job = job
        self.attempt = attempt
        self.leaseMilliseconds = leaseMilliseconds
    }
}

/// Why a receipt was not accepted, as a fixed number.
package enum DenialReason: Int, Hashable, Sendable, CaseIterable {
    /// The job's fence rose since the attempt began.
    case staleEpoch = 1
    /// Another attempt of the job was accepted.
    case alreadyAccepted = 2
    /// The ledger knows no such attempt.
    case unknownAttempt = 3
    /// The delivered files are not what the receipt says.
    case badReceipt = 4
    /// The run or the store was given up.
    case cancelled = 5
}

/// Why a worker or a client is turned away.
package struct Refusal: Hashable, Sendable {
    /// What was wrong, as a fixed number.
    package enum Code: Int, Hashable, Sendable, CaseIterable {
        /// No version of the protocol is common to both sides.
        case protocolVersion = 1
        /// The message could not be read.
        case badMessage = 2
        /// There is no such run, store or worker.
        case notFound = 3
        /// What was asked for does not fit the state of things; the text says why.
        case notPossible = 4
        /// The worker has failed what others could do.
        case quarantined = 5
        /// The request itself is wrong; the text says what.
        case badRequest = 6
        /// Another worker with the same key, or name, is connected.
        case nameTaken = 7
        /// There is no such run here; `run` names it.
        case noRun = 8
        /// A store belongs to the unfinished run `run`, whose request was another.
        case otherRun = 9
        /// Of the run `run` nothing is left to do but the swap.
        case awaitsSwap = 10
    }

    package let code: Code
    /// For people; names both sides' versions where those are the cause.
    package let text: String
    /// What the refusing side understands.
    package let protocols: ProtocolRange
    /// The run that it is about; nil for none.
    package let run: String?

    package init(
        code: Code, text: String, protocols: ProtocolRange = .current, run: String? = nil
    ) {
        self.run = run
        self.code = code
        self.text = text
        self.protocols = protocols
    }

    /// The refusal of a side without a common version.
    package static func protocolVersion(
        theirs: ProtocolRange, ours: ProtocolRange = .current
    ) -> Refusal {
        Refusal(
            code: .protocolVersion,
            text: "protocol version \(theirs) is not supported (the coordinator uses \(ours)); "
                + "use the same release of godwit on both sides", protocols: ours)
    }

    /// The refusal of a worker whose key, or name, another one uses that is connected.
    ///
    /// - Parameters:
    ///   - host: of the one that is connected; empty where it is not known.
    ///   - other: of the one that is refused.
    ///   - ours: what the refusing side understands.
    /// - Returns: the refusal, with both hosts in its text.
    package static func nameTaken(
        host: String, other: String, ours: ProtocolRange = .current
    ) -> Refusal {
        let place = host.isEmpty ? "" : " on \(host)"
        let here = other.isEmpty ? "" : ", this one is on \(other)"
        return Refusal(
            code: .nameTaken,
            text: "another worker runs with the same key\(place)\(here); each worker needs a key "
                + "of its own, or without keys a name of its own", protocols: ours)
    }
}
