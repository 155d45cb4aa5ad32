import ClusterProtocol
import ClusterVocabulary
import Jobs
import RunSupervision

/// Makes the coordinator behave wrongly in one way, so that the checkers have something to find.
///
/// The supervisor and its machine are those that ship: a fault changes the events that they are
/// given, or the effects that they answer with.
struct PlantedFault {
    let plant: Plant?
    /// Receipts that were denied because another attempt's was accepted first.
    private var denied: [JobKey: Receipt] = [:]

    init(_ plant: Plant?) { self.plant = plant }

    /// Whether messages and tasks leave before the records of their turn are durable.
    var sendsBeforeRecords: Bool { plant == .sendBeforeLedger }

    /// Milliseconds to add to the machine's clock, where the wall clock differs by `wallOffset`.
    func clockShift(wallOffset: Int64) -> Int64 { plant == .wallClockLease ? wallOffset : 0 }

    /// Gives the supervisor an event.
    ///
    /// - Returns: the effects, spoiled where the fault says so.
    mutating func handle(
        _ event: SupervisorEvent, now: Instant, by supervisor: inout RunSupervisor
    ) -> SupervisorEffects {
        var effects = supervisor.handle(spoiled(event), now: now)
        switch plant {
        case .swapBeforeValidation:
            while let task = effects.machine.tasks.first(where: { $0.kind == .validate }) {
                effects.machine.tasks.removeAll { $0.id == task.id }
                let ended = CoordinatorEvent.taskEnded(task.id, .validated)
                effects.append(supervisor.handle(.machine(ended), now: now))
            }
        case .staleEpoch, .duplicateDone, .mergeDeniedAttempt:
            if case .machine(.message(.done(let receipt), _, _)) = event {
                spoil(&effects.machine, of: receipt)
            }
            if plant == .mergeDeniedAttempt {
                effects.machine.tasks = effects.machine.tasks.map(mergingDenied)
            }
        case .endBeforeReport: tellUnreported(&effects, now, by: &supervisor)
        case .leaseLostOnReconnect, .sendBeforeLedger, .wallClockLease, nil: break
        }
        return effects
    }

    private func spoiled(_ event: SupervisorEvent) -> SupervisorEvent {
        guard plant == .leaseLostOnReconnect,
            case .machine(.message(.hello(let hello), let connection, let worker)) = event
        else { return event }
        return .machine(
            .message(.hello(hello.holdingNothing), from: connection, worker: worker))
    }

    /// Answers reports that were not written.
    private func tellUnreported(
        _ effects: inout SupervisorEffects, _ now: Instant, by supervisor: inout RunSupervisor
    ) {
        for work in effects.works {
            guard case .report(let run, let number) = work else { continue }
            effects.works.removeAll { $0 == work }
            let answer = RunAnswer.reported(run: run, number: number, failures: 0)
            effects.append(supervisor.handle(.answered(answer), now: now))
        }
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

extension WorkerHello {
    fileprivate var holdingNothing: WorkerHello {
        WorkerHello(
            worker: worker, protocols: protocols, engine: engine, sqlite: sqlite,
            policies: policies, roots: roots, slots: slots, scratchBytes: scratchBytes, held: [],
            host: host, instance: instance)
    }
}
