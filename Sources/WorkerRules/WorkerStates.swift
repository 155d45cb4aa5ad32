import ClusterTables
package import ClusterVocabulary

/// How a worker stands with its coordinator.
package enum LinkPhase: Int, ListedState {
    /// No connection; one is asked for when the back-off ends.
    case apart
    /// A connection was asked for.
    case connecting
    /// It said hello and waits to be welcomed.
    case greeting
    case attached

    package static var transitions: [Transition<LinkPhase>] {
        [
            Transition(.apart, .connecting, "time: back-off is over"),
            Transition(.connecting, .greeting, "transport: connected"),
            Transition(.connecting, .apart, "transport: gone; time: no connection"),
            Transition(.greeting, .attached, "coordinator: welcome"),
            Transition(.greeting, .apart, "coordinator: refused, bye; time: no welcome"),
            Transition(.attached, .apart, "transport: gone; coordinator: bye; time: no traffic"),
        ]
    }
}

/// What a worker is about.
package enum WorkPhase: Int, ListedState {
    case working
    /// It takes nothing new and ends when it has nothing left.
    case draining
    /// Asked to end: it finishes what runs within its grace.
    case stopping
    case exited

    package static var transitions: [Transition<WorkPhase>] {
        [
            Transition(.working, .draining, "coordinator: drain"),
            Transition(.working, .stopping, "terminated"),
            Transition(.working, .exited, "refused for good; orphaned"),
            Transition(.draining, .stopping, "terminated"),
            Transition(.draining, .exited, "nothing is left"),
            Transition(.stopping, .exited, "nothing is left, or the grace is over"),
        ]
    }
}

/// Where one attempt stands at its worker.
package enum HeldPhase: Int, ListedState {
    case queued
    case running
    /// It has a result that is not decided on, or failed and that could not be told.
    case delivered
    /// Not wanted any more; its slot is being killed.
    case stopping
    case ended

    package static var transitions: [Transition<HeldPhase>] {
        [
            Transition(.queued, .running, "a slot is free"),
            Transition(.queued, .ended, "revoked or denied; drained; terminated"),
            Transition(.running, .delivered, "slot: delivered, failed, died"),
            Transition(.running, .stopping, "revoked or denied; the grace is over"),
            Transition(.delivered, .ended, "coordinator: committed, denied, revoked; failure told"),
            Transition(.stopping, .ended, "slot: died"),
        ]
    }
}
