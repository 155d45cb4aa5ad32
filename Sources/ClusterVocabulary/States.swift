/// What the coordinator thinks of a worker.
package enum WorkerPhase: Int, ListedState {
    /// Welcomed; it has not said that it is ready.
    case greeted
    case ready
    /// Not heard of for too long: it gets nothing new, and its leases run out.
    case silent
    /// It finishes what it has.
    case draining
    /// It gets nothing for a while.
    case quarantined
    /// It left, or came never back.
    case gone

    package static var transitions: [Transition<WorkerPhase>] {
        [
            Transition(.greeted, .ready, "worker: ready"),
            Transition(.greeted, .silent, "time: no traffic"),
            Transition(.greeted, .draining, "client: drain"),
            Transition(.greeted, .gone, "worker: bye, or its process ended"),
            Transition(.ready, .greeted, "worker: hello by a new connection, or no free slots"),
            Transition(.ready, .silent, "time: no traffic, or the connection is gone"),
            Transition(.ready, .draining, "client: drain"),
            Transition(.ready, .quarantined, "failures that others did not have"),
            Transition(.ready, .gone, "worker: bye, or its process ended"),
            Transition(.silent, .greeted, "worker: hello by a new connection"),
            Transition(.silent, .ready, "worker: any traffic"),
            Transition(.silent, .draining, "client: drain"),
            Transition(.silent, .gone, "time: its last lease ran out"),
            Transition(.draining, .gone, "worker: bye; or silent without leases"),
            Transition(.quarantined, .greeted, "worker: hello with another engine"),
            Transition(.quarantined, .ready, "time: the quarantine is over"),
            Transition(.quarantined, .draining, "client: drain"),
            Transition(.quarantined, .gone, "worker: bye, or its process ended"),
        ]
    }
}

/// Where one attempt stands.
package enum AttemptPhase: Int, ListedState {
    /// Begun before this start; its worker has not come back.
    case unclaimed
    case leased
    /// Delivered; a task checks what it delivered.
    case checking
    case ended

    package static var transitions: [Transition<AttemptPhase>] {
        [
            Transition(.unclaimed, .leased, "worker: hello that holds it, or its result"),
            Transition(.unclaimed, .ended, "time: lease; or the store has no use for it"),
            Transition(.leased, .checking, "worker: done"),
            Transition(.leased, .ended, "worker: done, failed, returned; time: lease; other won"),
            Transition(.checking, .ended, "task: admit; or another attempt won"),
        ]
    }
}

/// Where a job stands.
package enum JobPhase: Int, ListedState {
    case ready
    /// It failed and waits before the next try.
    case resting
    case running
    /// A result is being checked.
    case checking
    case accepted
    case quarantined

    package static var transitions: [Transition<JobPhase>] {
        [
            Transition(.ready, .running, "an attempt begins"),
            Transition(.resting, .ready, "time: back-off is over"),
            Transition(.running, .checking, "worker: done"),
            Transition(.running, .accepted, "worker: done, nothing to check"),
            Transition(.running, .ready, "worker: returned, or no room"),
            Transition(.running, .resting, "worker: failed; time: lease"),
            Transition(.running, .quarantined, "worker: failed once too often, or for good"),
            Transition(.checking, .accepted, "task: admitted"),
            Transition(.checking, .running, "task: not admitted, another attempt runs"),
            Transition(.checking, .ready, "task: no room to admit"),
            Transition(.checking, .resting, "task: not admitted"),
            Transition(.checking, .quarantined, "task: not admitted once too often"),
        ]
    }
}

/// Where a store stands.
package enum StorePhase: Int, ListedState {
    case waiting
    case preparing
    /// Its copy jobs run and their shards are merged; a small store's one job.
    case copying
    case linking
    case indexing
    case validating
    case swapping
    /// To be planned again once its tasks have ended.
    case replanning
    /// To end once its tasks have ended.
    case ending
    case ended

    package static var transitions: [Transition<StorePhase>] {
        [
            Transition(.waiting, .preparing, "there is place for a large store"),
            Transition(.waiting, .copying, "first attempt of a small store"),
            Transition(.waiting, .swapping, "validated before"),
            Transition(.waiting, .ended, "client: cancel"),
            Transition(.preparing, .copying, "task: prepared"),
            Transition(.preparing, .waiting, "task: prepared as a small store"),
            Transition(.preparing, .ending, "client: cancel"),
            Transition(.preparing, .ended, "task: failed, or nothing to migrate"),
            Transition(.copying, .linking, "all copies are merged"),
            Transition(.copying, .indexing, "all copies are merged, no links"),
            Transition(.copying, .swapping, "a small store's result"),
            Transition(.copying, .replanning, "worker: source or plan changed, tasks run"),
            Transition(.copying, .preparing, "worker: source or plan changed"),
            Transition(.copying, .ending, "client: cancel, tasks run"),
            Transition(.copying, .ended, "jobs are quarantined; client: cancel; swap put off"),
            Transition(.linking, .indexing, "all links are applied"),
            Transition(.linking, .replanning, "worker: source or plan changed, tasks run"),
            Transition(.linking, .preparing, "worker: source or plan changed"),
            Transition(.linking, .ending, "client: cancel, tasks run"),
            Transition(.linking, .ended, "jobs are quarantined; client: cancel"),
            Transition(.indexing, .validating, "task: indexed"),
            Transition(.indexing, .replanning, "task: source changed, a late shard is checked"),
            Transition(.indexing, .preparing, "task: source or plan changed"),
            Transition(.indexing, .ending, "client: cancel"),
            Transition(.indexing, .ended, "task: failed"),
            Transition(.validating, .swapping, "task: validated"),
            Transition(.validating, .replanning, "task: source changed, a late shard is checked"),
            Transition(.validating, .preparing, "task: source or plan changed"),
            Transition(.validating, .ending, "client: cancel"),
            Transition(.validating, .ended, "task: differences, failed; swap put off"),
            Transition(.swapping, .replanning, "task: source changed, a late shard is checked"),
            Transition(.swapping, .preparing, "task: source changed"),
            Transition(.swapping, .ending, "task: swapped, failed, a late shard is checked"),
            Transition(.swapping, .ended, "task: swapped, failed"),
            Transition(.replanning, .preparing, "the last task ended"),
            Transition(.replanning, .ending, "client: cancel"),
            Transition(.ending, .ended, "the last task ended"),
        ]
    }
}

/// Where a run stands.
package enum RunPhase: Int, ListedState {
    /// Behind other runs.
    case queued
    case open
    case paused
    case ended
    case cancelled

    package static var transitions: [Transition<RunPhase>] {
        [
            Transition(.queued, .open, "an earlier run ended"),
            Transition(.queued, .paused, "client: pause, or paused before the start"),
            Transition(.queued, .cancelled, "client: cancel"),
            Transition(.open, .paused, "client: pause; no room; failure limit; a bug"),
            Transition(.open, .ended, "its last store ended"),
            Transition(.open, .cancelled, "client: cancel"),
            Transition(.paused, .open, "client: resume; room; time"),
            Transition(.paused, .ended, "its last store ended"),
            Transition(.paused, .cancelled, "client: cancel"),
            Transition(.ended, .open, "client: replay or swap"),
            Transition(.ended, .cancelled, "client: cancel, while results wait for their swap"),
        ]
    }
}

/// Where the life of a run stands, beside what the machine does with its stores.
package enum RunLifePhase: Int, ListedState {
    /// It does not begin, because there is too little space for it.
    case held
    /// Its stores are read from the ledger, and the machine gets those that it wants.
    case fed
    /// It is over, and its end is carried out: the rest is cancelled, files are removed, the
    /// report is written.
    case ending
    /// Its end was reported, now or before it entered.
    case reported
    /// Nothing of it is in memory; the ledger answers for it.
    case forgotten

    package static var transitions: [Transition<RunLifePhase>] {
        [
            Transition(.forgotten, .held, "client: submit; there is too little space"),
            Transition(.forgotten, .fed, "client: submit; the coordinator starts"),
            Transition(.forgotten, .ending, "it enters without a store that has work left"),
            Transition(.forgotten, .reported, "client: a request names it, and it is over"),
            Transition(.held, .fed, "there is space"),
            Transition(.held, .ending, "client: cancel; its last store ended"),
            Transition(.held, .reported, "there is space, and nothing has work left"),
            Transition(.fed, .held, "client: submit again; there is too little space"),
            Transition(.fed, .ending, "machine: it ended, awaits swaps, or was cancelled"),
            Transition(.ending, .held, "reported, and submitted again without enough space"),
            Transition(.ending, .fed, "reported, and there is work again"),
            Transition(.ending, .reported, "its report is written"),
            Transition(.reported, .held, "client: submit again; there is too little space"),
            Transition(.reported, .fed, "client: replay, swap, or submit again"),
            Transition(.reported, .ending, "client: cancel, while results wait for their swap"),
            Transition(.reported, .forgotten, "time"),
        ]
    }
}
