/// What is worth a line of a connection that is tried again for ever: what has changed.
struct LinkNews: Hashable, Sendable {
    private enum Standing: Hashable {
        case new
        /// A coordinator has taken the worker in.
        case welcomed
        /// Nothing was heard of the last try yet.
        case waiting
        /// The last try came to an end that was told.
        case answered
    }

    private var standing = Standing.new
    private var isSilenceTold = false

    /// A connection is begun.
    ///
    /// - Parameter endpoint: where to.
    /// - Returns: the note; nil where there is nothing new.
    mutating func connects(to endpoint: String) -> WorkerNote? {
        let before = standing
        standing = .waiting
        switch before {
        case .new: return .connecting(endpoint: endpoint)
        case .welcomed:
            isSilenceTold = false
            return .parted(reason: "nothing was heard of it")
        case .answered: return nil
        case .waiting:
            guard !isSilenceTold else { return nil }
            isSilenceTold = true
            return .unanswered(endpoint: endpoint)
        }
    }

    /// A coordinator has taken the worker in.
    mutating func welcomed() {
        standing = .welcomed
        isSilenceTold = false
    }

    /// The connection ended, or did not come about.
    mutating func lost(_ reason: String) -> WorkerNote {
        let wasWelcomed = standing == .welcomed
        standing = .answered
        isSilenceTold = false
        return wasWelcomed ? .parted(reason: reason) : .lost(reason: reason)
    }
}
