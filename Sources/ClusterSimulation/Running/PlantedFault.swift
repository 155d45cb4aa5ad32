import ClusterCore
import ClusterProtocol
import Jobs

/// Makes the coordinator's machine behave wrongly in one way, so that the checkers have something
/// to find.
///
/// The machine itself is the one that ships: a fault changes the events that it is given, or the
/// effects that it answers with.
struct PlantedFault {
    let plant: Plant?
    /// Receipts that were denied because another attempt's was accepted first.
    private var denied: [JobKey: Receipt] = [:]

    init(_ plant: Plant?) { self.plant = plant }

    /// Whether messages and tasks leave before the records of their turn are durable.
    var sendsBeforeRecords: Bool { plant == .sendBeforeLedger }

    /// Milliseconds to add to the machine's clock, where the wall clock differs by `wallOffset`.
    func clockShift(wallOffset: Int64) -> Int64 { plant == .wallClockLease ? wallOffset : 0 }

    /// Gives the machine an event.
    ///
    /// - Returns: the effects, spoiled where the fault says so.
    mutating func handle(
        _ event: CoordinatorEvent, now: Instant, by machine: inout CoordinatorMachine
    ) -> CoordinatorEffects {
        var effects = machine.handle(spoiled(event), now: now)
        switch plant {
        case .swapBeforeValidation:
            while let task = effects.tasks.first(where: { $0.kind == .validate }) {
                effects.tasks.removeAll { $0.id == task.id }
                effects.append(machine.handle(.taskEnded(task.id, .validated), now: now))
            }
        case .staleEpoch, .duplicateDone, .mergeDeniedAttempt:
            if case .message(.done(let receipt), _, _) = event { spoil(&effects, of: receipt) }
            if plant == .mergeDeniedAttempt {
                effects.tasks = effects.tasks.map(mergingDenied)
            }
        case .leaseLostOnReconnect, .sendBeforeLedger, .wallClockLease, nil: break
        }
        return effects
    }

    private func spoiled(_ event: CoordinatorEvent) -> CoordinatorEvent {
        guard plant == .leaseLostOnReconnect,
            case .message(.hello(let hello), let connection, let worker) = event
        else { return event }
        return .message(.hello(hello.holdingNothing), from: connection, worker: worker)
    }

    /// Spoils the answer to a delivery.
    private mutating func spoil(_ effects: inout CoordinatorEffects, of receipt: Receipt) {
        for index in effects.sends.indices {
            let send = effects.sends[index]
            switch (plant, send.message) {
            case (.staleEpoch, .denied(receipt.attempt, .staleEpoch)):
                effects.records.append(.accepted(receipt))
                effects.sends[index] = CoordinatorEffects.Send(
                    to: send.to, message: .committed(attempt: receipt.attempt))
            case (.duplicateDone, .committed(receipt.attempt)):
                effects.records.append(.accepted(receipt))
            case (.mergeDeniedAttempt, .denied(receipt.attempt, .alreadyAccepted)):
                denied[JobKey(receipt)] = receipt
            default: break
            }
        }
    }

    /// The task with shards of denied attempts in the place of accepted ones.
    private func mergingDenied(_ task: CoordinatorTask) -> CoordinatorTask {
        guard case .step(let index, let step, let shards) = task.kind else { return task }
        return CoordinatorTask(
            id: task.id, store: task.store,
            kind: .step(index, step, shards: shards.map { denied[JobKey($0)] ?? $0 }))
    }
}

extension JobKey {
    fileprivate init(_ receipt: Receipt) {
        self.init(
            store: StoreKey(run: receipt.run, number: receipt.store), work: receipt.work)
    }
}

extension CoordinatorEffects {
    fileprivate mutating func append(_ later: CoordinatorEffects) {
        records += later.records
        sends += later.sends
        replies += later.replies
        tasks += later.tasks
        lookups += later.lookups
        notes += later.notes
    }
}

extension WorkerHello {
    fileprivate var holdingNothing: WorkerHello {
        WorkerHello(
            worker: worker, protocols: protocols, engine: engine, sqlite: sqlite,
            policies: policies, roots: roots, slots: slots, scratchBytes: scratchBytes, held: [],
            host: host, instance: instance)
    }
}
