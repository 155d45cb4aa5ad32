/// The second byte of a frame; numbers never change and are never used again.
enum MessageType: UInt8, CaseIterable {
    case workerHello = 1
    case workerReady = 2
    case workerProgress = 3
    case workerDone = 4
    case workerFailed = 5
    case workerReturned = 6
    case workerHeartbeat = 7
    case workerBye = 8

    case welcome = 33
    case refused = 34
    case jobs = 35
    case committed = 36
    case denied = 37
    case revoke = 38
    case drain = 39
    case heartbeat = 40
    case bye = 41

    case submit = 65
    case status = 66
    case watch = 67
    case pause = 68
    case resume = 69
    case cancel = 70
    case drainWorker = 71
    case replay = 72
    case swap = 73
    case throttle = 74
    case workers = 75

    case requestAccepted = 97
    case requestRefused = 98
    case statusReport = 99
    case watchEvent = 100
    case requestDone = 101

    case slotRun = 129
    case slotCancel = 130
    case slotEnd = 131

    case slotReady = 161
    case slotProgress = 162
    case slotDone = 163
    case slotFailed = 164

    /// Whether every version of the protocol reads the message: its frame carries version 0.
    ///
    /// Two sides that have not agreed on a version yet must understand each other this far.
    var isForEveryVersion: Bool {
        switch self {
        case .workerHello, .refused, .requestRefused: true
        default: false
        }
    }

    /// The most outermost fields that a body can have, which is what its lists may hold.
    var fieldLimit: Int {
        switch self {
        case .workerHello:
            16 + MessageLimits.policies + MessageLimits.roots + MessageLimits.attempts
        case .workerHeartbeat: 16 + MessageLimits.attempts
        case .welcome: 16 + 2 * MessageLimits.attempts
        case .jobs: MessageLimits.jobs
        case .workerDone, .slotDone: 16 + MessageLimits.files + 2 * MessageLimits.sums
        case .submit: 16 + MessageLimits.paths
        case .statusReport: 16 + MessageLimits.runs + MessageLimits.workers
        default: 64
        }
    }
}
