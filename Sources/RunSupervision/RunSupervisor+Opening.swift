import ClusterCore
import ClusterProtocol
package import ClusterVocabulary
import Jobs

// Runs enter, are held, and come to their ends.

extension RunSupervisor {
    /// A run enters, or a client submitted it again.
    mutating func open(_ opening: RunOpening, _ entry: RunEntry, _ client: ClientID?) {
        let run = opening.run
        if lives[run] == nil {
            guard opening.state != .cancelled else {
                begin(.end(run: run, isCancelled: true, but: [], number: nil))
                return refuseCancelled(opening, entry, client)
            }
            enter(opening, entry)
        } else if entry == .submitted {
            guard machine.takesStores(of: run) else {
                end(run, .cancelled)
                return refuseCancelled(opening, entry, client)
            }
            submitAgain(opening)
        }
        // What is known here of a run is newer than what was read for a resumed or named one.
        settle(run)
        if let client { reply(.accepted(run: run), to: client) }
    }

    private mutating func refuseCancelled(
        _ opening: RunOpening, _ entry: RunEntry, _ client: ClientID?
    ) {
        guard entry == .submitted else { return }
        guard let client else {
            return out.events.append(.ended(run: opening.run, failures: opening.stores))
        }
        let text = "the run \(opening.run) was cancelled meanwhile; submit it again"
        refuse(client, .notPossible, text)
    }

    private mutating func enter(_ opening: RunOpening, _ entry: RunEntry) {
        let run = opening.run
        out.known.append((run, opening.state))
        lives[run] = RunLife(opening)
        // A disk that was full is looked at again; a client that submits the run resumes it.
        let isHeld =
            opening.state == .paused && opening.pause?.isForSpace != true && entry != .submitted
        if opening.state == .paused, !isHeld, opening.shortage == nil {
            change(run, .open, .restarted)
        }
        if opening.state == .ended, opening.stores > 0 {
            out.events.append(.note(.run(run, .reopened(stores: opening.stores))))
            change(run, .open, .storesWait)
        }
        tell(.run(opening.offer(entry, isHeld: isHeld)))
        if let shortage = opening.shortage { hold(run, shortage) }
    }

    private mutating func hold(_ run: String, _ shortage: String) {
        let pause = PauseReason.space(shortage)
        change(run, .paused, .paused(pause))
        out.events.append(.note(.run(run, .paused(pause))))
        scheduleSpaceLook()
    }

    private mutating func submitAgain(_ opening: RunOpening) {
        let run = opening.run
        lives[run]?.shortage = opening.shortage
        if opening.shortage != nil { scheduleSpaceLook() }
        let swaps = lives[run]?.defersSwap == true && !opening.defersSwap
        if lives[run]?.defersSwap != opening.defersSwap {
            lives[run]?.defersSwap = opening.defersSwap
            tell(.swapsDeferred(run: run, opening.defersSwap))
            out.events.append(.note(.run(run, .swapsDeferred(opening.defersSwap))))
        }
        if opening.added > 0 || swaps {
            // Also results that waited for their swap are read now, in no order with stores that
            // were added. Too many are announced, rather than too few: `exhausted` corrects that.
            let inside = lives[run]?.feed.inside.count ?? 0
            let stores = max(opening.added, opening.stores - inside)
            lives[run]?.feed.rewind()
            tell(.run(RunOffer(run: run, stores: stores, failed: opening.failed)))
        }
        tell(.request(.resume(run: run), from: .local))
    }

    private mutating func change(_ run: String, _ state: RunState, _ reason: RunReason) {
        out.machine.records.append(.runChanged(run: run, state, reason))
    }

    /// The space for a run was looked at.
    mutating func takeSpace(_ run: String, _ shortage: String?) {
        guard lives[run] != nil else { return }
        lives[run]?.isLookedAt = false
        // Its end may have come meanwhile.
        guard lives[run]?.shortage != nil else { return }
        lives[run]?.shortage = shortage
        if shortage == nil { change(run, .open, .spaceAvailable) }
        settle(run)
    }

    // MARK: - Ends

    /// A run has come to an end.
    mutating func end(_ run: String, _ state: RunState) {
        guard let life = lives[run] else { return }
        lives[run]?.shortage = nil
        endCount += 1
        lives[run]?.ends.insert(endCount)
        begin(
            .end(
                run: run, isCancelled: state == .cancelled, but: life.feed.inside,
                number: endCount))
        settle(run)
    }

    /// The last store of a cancelled run that was at work has left.
    mutating func endIfCancelled(_ run: String) {
        guard lives[run]?.feed.inside.isEmpty == true, !machine.takesStores(of: run) else {
            return
        }
        end(run, .cancelled)
    }

    /// The end of a run was carried out.
    mutating func takeEnd(_ run: String, _ number: Int?) {
        // One of this start is reported in any case.
        guard number != nil || unreported.remove(run) != nil else { return }
        begin(.report(run: run, number: number))
    }

    /// The report of a run is written.
    mutating func takeReport(_ run: String, _ number: Int?, failures: Int) {
        // What an earlier start left says nothing about an end of this one.
        guard let number, lives[run]?.ends.remove(number) != nil else { return }
        settle(run)
        // A replay may have been requested, or stores be at work still: their end is told then.
        guard lives[run]?.ends.isEmpty == true, machine.isOver(run: run) else { return }
        out.events.append(.ended(run: run, failures: failures))
    }

    // MARK: - Answers to clients

    func answer(_ reply: ClientReply, to client: ClientID) -> CoordinatorEffects.Reply {
        CoordinatorEffects.Reply(to: client, reply: reply)
    }

    mutating func reply(_ reply: ClientReply, to client: ClientID) {
        out.machine.replies.append(answer(reply, to: client))
    }

    mutating func refuse(
        _ client: ClientID, _ code: Refusal.Code, _ text: String, run: String? = nil
    ) {
        let refusal = Refusal(
            code: code, text: text, protocols: machine.settings.protocols, run: run)
        reply(.refused(refusal), to: client)
    }
}

extension ClientID {
    /// Of requests that no client waits for.
    package static let local = ClientID("")
}
