import Synchronization
import TestSupport
import Testing
import Threads

private struct Refusal: Error, Equatable { let number: Int }

@Suite struct SlotThreadsTests {
    @Test(arguments: [UInt64(11), 12, 13, 14])
    func outcomesComeInTheOrderOfSubmission(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let loads = (0..<300).map { _ in Int.random(in: 0...2_000, using: &generator) }
        let count = Int.random(in: 1...4, using: &generator)
        let outcomes = try SlotThreads<Int>.map(
            Array(loads.enumerated()), count: count, name: "slot"
        ) { input, slot in
            #expect(slot.index < count)
            if input.offset % 7 == 3 { throw Refusal(number: input.offset) }
            return (0..<input.element).reduce(input.offset) { sum, _ in sum + 1 }
        }
        #expect(outcomes.count == loads.count)
        for (index, outcome) in outcomes.enumerated() {
            if index % 7 == 3 {
                #expect(throws: Refusal(number: index)) { try outcome.get() }
            } else {
                #expect(try outcome.get() == index + loads[index])
            }
        }
    }

    @Test func workRunsAtTheSameTime() throws {
        // Each piece waits for the other: with one thread this would never end.
        let (ping, pong) = (BoundedMailbox<Int>(capacity: 1), BoundedMailbox<Int>(capacity: 1))
        let slots = try SlotThreads<Int?>(count: 2, name: "slot")
        slots.submit { _ in
            ping.send(1)
            return pong.receive()
        }
        slots.submit { _ in
            pong.send(2)
            return ping.receive()
        }
        #expect(try slots.finish().map { try $0.get() } == [2, 1])
        #expect(!slots.submit { _ in 3 })
        #expect(slots.finish().count == 2)
    }

    @Test func theQueueIsBounded() throws {
        let gate = BoundedMailbox<Int>(capacity: 1)
        let begun = BoundedMailbox<Int>(capacity: 1)
        let submitted = Atomic(0)
        let slots = try SlotThreads<Int>(count: 1, name: "slot", queueCapacity: 2)
        let producer = try OwnedThread(name: "producer") {
            for number in 0..<10 {
                slots.submit { _ in
                    begun.send(number)
                    _ = gate.receive()
                    return number
                }
                submitted.add(1, ordering: .sequentiallyConsistent)
            }
        }
        for number in 0..<10 {
            #expect(begun.receive() == number)
            // One runs, two wait, one more may have been handed over; the others are not drawn.
            #expect(submitted.load(ordering: .sequentiallyConsistent) <= number + 3)
            gate.send(number)
        }
        producer.join()
        #expect(try slots.finish().map { try $0.get() } == Array(0..<10))
    }

    @Test func cancellationLeavesQueuedWorkUndone() throws {
        let slots = try SlotThreads<Int>(count: 1, name: "slot", queueCapacity: 8)
        let begun = BoundedMailbox<Void>(capacity: 1)
        let gate = BoundedMailbox<Void>(capacity: 1)
        slots.submit { slot in
            begun.send(())
            _ = gate.receive()
            try slot.cancellation.check()
            return 1
        }
        for _ in 0..<5 { slots.submit { _ in 2 } }
        _ = begun.receive()
        slots.cancellation.cancel()
        gate.send(())
        let outcomes = slots.finish()
        #expect(outcomes.count == 6)
        #expect(throws: CancellationError.self) { try outcomes[0].get() }
        for outcome in outcomes.dropFirst() {
            guard case .notBegun = outcome else {
                Issue.record("work was begun after cancellation")
                return
            }
            #expect(throws: CancellationError.self) { try outcome.get() }
        }
    }

    @Test func lettingGoEndsTheThreads() throws {
        let ended = Atomic(0)
        do {
            let slots = try SlotThreads<Void>(count: 2, name: "slot", queueCapacity: 8)
            for _ in 0..<4 {
                slots.submit { _ in ended.add(1, ordering: .relaxed) }
            }
        }
        #expect(ended.load(ordering: .relaxed) <= 4)
    }
}

@Suite struct CancelFlagTests {
    @Test func handlersRunOnceAndOnlyInside() throws {
        let flag = CancelFlag()
        let calls = Mutex<[String]>([])
        flag.withHandler({ calls.withLock { $0.append("over") } }, body: {})
        flag.withHandler({ calls.withLock { $0.append("inside") } }) {
            flag.cancel()
            flag.cancel()
        }
        flag.withHandler({ calls.withLock { $0.append("late") } }, body: {})
        #expect(calls.withLock { $0 } == ["inside", "late"])
        #expect(throws: CancellationError.self) { try flag.check() }
    }

    @Test func handlersReachBlockedWork() throws {
        let flag = CancelFlag()
        let blocked = BoundedMailbox<Int>(capacity: 1)
        let inside = BoundedMailbox<Void>(capacity: 1)
        let thread = try OwnedThread(name: "blocked") {
            let received = flag.withHandler({ blocked.close() }) {
                inside.send(())
                return blocked.receive()
            }
            #expect(received == nil)
        }
        _ = inside.receive()
        flag.cancel()
        thread.join()
        #expect(flag.isCancelled)
    }

    @Test func bodyErrorsPassThrough() {
        let flag = CancelFlag()
        #expect(throws: Refusal(number: 1)) {
            try flag.withHandler({}) { () throws(Refusal) -> Void in throw Refusal(number: 1) }
        }
        #expect(!flag.isCancelled)
        #expect(throws: Never.self) { try flag.check() }
    }
}
