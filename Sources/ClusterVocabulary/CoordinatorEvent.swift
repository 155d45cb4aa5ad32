package import ClusterProtocol
package import Jobs

/// Something that the coordinator's machine is told.
package enum CoordinatorEvent: Sendable {
    /// A message of a worker; `worker` is its lasting name, which the transport has proven.
    case message(WorkerMessage, from: ConnectionID, worker: String)
    /// A connection cannot be reached any more; its worker may come back by another one.
    case unreachable(ConnectionID)
    /// A worker's process has ended for certain, such as a child that was waited for: its leases
    /// are revoked at once.
    case workerEnded(worker: String)
    /// A client asks for something; submitting is the loop's own business.
    case request(ClientRequest, from: ClientID)
    /// A run is opened, or opened again for stores that were not part of it before; then `stores`
    /// of the offer counts those alone.
    case run(RunOffer)
    /// From now on results of the run wait for their swap, or do not wait any more; swaps of
    /// those that wait already are asked for beside.
    case swapsDeferred(run: String, Bool)
    /// The answer to a lookup of failed or validated stores, each of which gets one: so many of
    /// them will be offered, as by `run`; none where there is none, or they could not be read.
    case lookedUp(RunOffer)
    /// The ledger has no more unfinished stores of the run that were not offered than so many:
    /// what was announced beyond that does not come.
    case exhausted(run: String, left: Int)
    /// A store enters; see `CoordinatorMachine.wantedStores`.
    case offered(StoreOffer)
    /// The answer to a lookup: the store has ended, or there is no such store.
    ///
    /// `accepted` are the attempts of it that the ledger has accepted: their workers still wait
    /// to be told.
    case absent(StoreKey, accepted: [String] = [])
    /// A run has ended or was cancelled, and everybody was told: the machine lets go of it, unless
    /// stores of it are still here or the ledger is being asked.
    case forgotten(run: String)
    /// There is room again where a run waits for it.
    case room(run: String)
    /// Work beside the loop ended.
    case taskEnded(TaskID, TaskOutcome)
    /// Time has come to `nextWake`.
    case tick
}
