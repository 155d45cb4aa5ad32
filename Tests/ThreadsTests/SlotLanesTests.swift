import Synchronization
import Testing
@testable import Threads

/// Slots that take work from several lanes.
@Suite struct SlotLanesTests {
    @Test func lanesTakeTurns() throws {
        let order = Mutex<[Int]>([])
        let lanes = try SlotLanes(count: 1, lanes: 2, capacity: 8)
        let isReady = BoundedMailbox<Bool>(capacity: 1)
        // Holds the only slot until both lanes are full.
        lanes.submit(to: 0) { _ in _ = isReady.receive() }
        for _ in 0..<6 { lanes.submit(to: 0) { _ in order.withLock { $0.append(0) } } }
        for _ in 0..<3 { lanes.submit(to: 1) { _ in order.withLock { $0.append(1) } } }
        isReady.send(true)
        lanes.finish()
        #expect(order.withLock { $0 } == [1, 0, 1, 0, 1, 0, 0, 0, 0])
    }

    @Test func everyPieceRunsOnceOverManySlots() throws {
        let counts = Mutex<[Int: Int]>([:])
        let lanes = try SlotLanes(count: 4, lanes: 3, capacity: 2)
        for piece in 0..<3000 {
            lanes.submit(to: piece % 3) { _ in counts.withLock { $0[piece, default: 0] += 1 } }
        }
        lanes.finish()
        #expect(counts.withLock { $0.count } == 3000)
        #expect(counts.withLock { $0.values.allSatisfy { $0 == 1 } })
    }

    @Test func afterTheEndNothingIsTaken() throws {
        let lanes = try SlotLanes(count: 2, lanes: 1, capacity: 1)
        lanes.finish()
        lanes.finish()
        #expect(!lanes.submit(to: 0) { _ in Issue.record("it ran") })
    }

    @Test func cancelledWorkIsToldSo() throws {
        let told = Atomic(0)
        let lanes = try SlotLanes(count: 1, lanes: 1, capacity: 4)
        lanes.cancellation.cancel()
        for _ in 0..<3 {
            lanes.submit(to: 0) { slot in
                if slot.cancellation.isCancelled { told.add(1, ordering: .relaxed) }
            }
        }
        lanes.finish()
        #expect(told.load(ordering: .relaxed) == 3)
    }
}
