/// Decides which events of a connection that is retried without end are worth a log line.
struct LinkStateLog: Hashable, Sendable {
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
    /// Why connections did not come about, as told since something else was news.
    private var reasons: Set<String> = []

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
            return .parted(reason: "no message arrived")
        case .answered: return nil
        case .waiting:
            guard !isSilenceTold else { return nil }
            isSilenceTold = true
            reasons = []
            return .unanswered(endpoint: endpoint)
        }
    }

    /// A coordinator has taken the worker in.
    mutating func welcomed() {
        standing = .welcomed
        isSilenceTold = false
        reasons = []
    }

    /// The connection ended, or did not come about.
    ///
    /// - Parameter reason: why.
    /// - Returns: the note; nil where the same was told and nothing has changed since.
    mutating func lost(_ reason: String) -> WorkerNote? {
        let wasWelcomed = standing == .welcomed
        standing = .answered
        isSilenceTold = false
        if wasWelcomed { return .parted(reason: reason) }
        return isNew(reason) ? .lost(reason: reason) : nil
    }

    /// The coordinator does not take the worker.
    ///
    /// - Parameter text: why.
    /// - Returns: false where the same was told and nothing has changed since.
    mutating func refused(_ text: String) -> Bool {
        standing = .answered
        isSilenceTold = false
        return isNew(text)
    }

    private mutating func isNew(_ reason: String) -> Bool {
        // Reasons come from outside: they must not pile up.
        if reasons.count >= 16 { reasons = [] }
        return reasons.insert(reason).inserted
    }
}
