import Synchronization
import TestSupport
import Testing
import Threads

@Suite struct BoundedMailboxTests {
    @Test func keepsOrderAndBound() {
        let mailbox = BoundedMailbox<Int>(capacity: 3)
        #expect((1...3).allSatisfy { mailbox.sendIfRoom($0) })
        #expect(!mailbox.sendIfRoom(4))
        #expect(mailbox.count == 3)
        #expect(mailbox.receive() == 1)
        #expect(mailbox.sendIfRoom(4))
        #expect(mailbox.receive(upTo: 2) == [2, 3])
        #expect(mailbox.receive(upTo: 256) == [4])
    }

    @Test func gathersWhileMoreIsExpected() {
        let mailbox = BoundedMailbox<Int>(capacity: 8)
        #expect(mailbox.send(1) && mailbox.send(2))
        // A full batch does not wait, and one to which nothing is added does not either.
        #expect(mailbox.receive(upTo: 2, gathering: .seconds(3600), while: { true }) == [1, 2])
        #expect(mailbox.send(3))
        #expect(mailbox.receive(upTo: 2, gathering: .seconds(3600), while: { false }) == [3])
        #expect(mailbox.send(4))
        var asked = 0
        let batch = mailbox.receive(upTo: 8, gathering: .seconds(3600)) {
            asked += 1
            if asked < 3 { mailbox.send(4 + asked) }
            return asked < 3
        }
        #expect(batch == [4, 5, 6])
        #expect(mailbox.send(7))
        #expect(mailbox.receive(upTo: 8, gathering: .zero, while: { true }) == [7])
        #expect(mailbox.send(8))
        mailbox.close()
        #expect(mailbox.receive(upTo: 8, gathering: .seconds(3600), while: { true }) == [8])
        #expect(mailbox.receive(upTo: 8, gathering: .seconds(3600), while: { true }).isEmpty)
    }

    @Test func closedMailboxGivesOutWhatItHolds() {
        let mailbox = BoundedMailbox<Int>(capacity: 3)
        #expect(mailbox.send(1) && mailbox.send(2))
        mailbox.close()
        mailbox.close()
        #expect(mailbox.isClosed)
        #expect(!mailbox.send(3))
        #expect(!mailbox.sendIfRoom(3))
        #expect(mailbox.receive() == 1)
        #expect(mailbox.receive() == 2)
        #expect(mailbox.receive() == nil)
        #expect(mailbox.receive(upTo: 5).isEmpty)
    }

    @Test func drainingReturnsWhatNobodyReceived() {
        let mailbox = BoundedMailbox<Int>(capacity: 3)
        #expect(mailbox.send(1) && mailbox.send(2))
        #expect(mailbox.closeAndDrain() == [1, 2])
        #expect(mailbox.receive() == nil)
    }

    @Test func whatLiesThereIsTakenWithoutWaiting() {
        let mailbox = BoundedMailbox<Int>(capacity: 3)
        #expect(mailbox.receiveNow(upTo: 5).isEmpty)
        #expect((1...3).allSatisfy { mailbox.sendIfRoom($0) })
        #expect(mailbox.receiveNow(upTo: 2) == [1, 2])
        mailbox.close()
        #expect(mailbox.receiveNow(upTo: 2) == [3])
        #expect(mailbox.receiveNow(upTo: 2).isEmpty)
    }

    @Test func receivingCanGiveUp() {
        let mailbox = BoundedMailbox<Int>(capacity: 1)
        guard case .nothingYet = mailbox.receive(within: .zero) else {
            Issue.record("an empty mailbox gave something")
            return
        }
        guard case .nothingYet = mailbox.receive(within: .seconds(-5)) else {
            Issue.record("an empty mailbox gave something")
            return
        }
        #expect(mailbox.send(7))
        // A wait that is longer than the clock can count must not overflow.
        guard case .element(7) = mailbox.receive(within: .seconds(Int64.max)) else {
            Issue.record("the element did not come")
            return
        }
        mailbox.close()
        guard case .closed = mailbox.receive(within: .seconds(60)) else {
            Issue.record("a closed mailbox did not say so")
            return
        }
    }

    @Test func closingWakesEveryWaiter() throws {
        let full = BoundedMailbox<Int>(capacity: 1)
        let empty = BoundedMailbox<Int>(capacity: 1)
        #expect(full.send(0))
        let refused = Atomic(0)
        let ended = Atomic(0)
        let threads = try (0..<6).map { index in
            try OwnedThread(name: "waiter \(index)") {
                if index % 2 == 0 {
                    if !full.send(index) { refused.add(1, ordering: .relaxed) }
                } else if empty.receive() == nil {
                    ended.add(1, ordering: .relaxed)
                }
            }
        }
        full.close()
        empty.close()
        for thread in threads { thread.join() }
        #expect(refused.load(ordering: .relaxed) == 3)
        #expect(ended.load(ordering: .relaxed) == 3)
    }

    /// Every element arrives once, each sender's in its order, under contention.
    @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6, 7, 8])
    func nothingIsLostUnderContention(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let capacity = Int.random(in: 1...5, using: &generator)
        let senders = Int.random(in: 1...4, using: &generator)
        let receivers = Int.random(in: 1...4, using: &generator)
        let perSender = 2_000
        let mailbox = BoundedMailbox<(sender: Int, number: Int)>(capacity: capacity)
        let received = Mutex<[[(sender: Int, number: Int)]]>([])

        let receiving = try (0..<receivers).map { index in
            try OwnedThread(name: "receiver \(index)") {
                var own: [(sender: Int, number: Int)] = []
                if index % 2 == 0 {
                    while let element = mailbox.receive() { own.append(element) }
                } else {
                    while true {
                        let batch = mailbox.receive(upTo: 3)
                        if batch.isEmpty { break }
                        own += batch
                    }
                }
                received.withLock { $0.append(own) }
            }
        }
        let sending = try (0..<senders).map { sender in
            try OwnedThread(name: "sender \(sender)") {
                for number in 0..<perSender { mailbox.send((sender, number)) }
            }
        }
        for thread in sending { thread.join() }
        mailbox.close()
        for thread in receiving { thread.join() }

        let lists = received.withLock { $0 }
        for list in lists {
            for sender in 0..<senders {
                let numbers = list.filter { $0.sender == sender }.map(\.number)
                #expect(numbers == numbers.sorted())
            }
        }
        let all = lists.joined().map { $0.sender * perSender + $0.number }.sorted()
        #expect(all == Array(0..<senders * perSender))
    }
}
