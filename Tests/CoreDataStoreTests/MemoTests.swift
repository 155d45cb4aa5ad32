import CoreDataStore
import Testing

/// What is remembered, and for how long.
@Suite struct MemoTests {
    private struct Failed: Error {}

    /// Counts computations.
    private final class Counter {
        var count = 0

        func value(_ number: Int) -> Int {
            count += 1
            return number * 10
        }
    }

    @Test("a value is computed once for equal keys")
    func once() {
        let memo = Memo<[Int], Int>(limit: 4)
        let counter = Counter()
        for _ in 0..<3 {
            #expect(memo.value(for: [1, 2]) { counter.value(3) } == 30)
            #expect(memo.value(for: [2, 1]) { counter.value(4) } == 40)
        }
        #expect(counter.count == 2)
    }

    @Test("the oldest value makes room")
    func bounded() {
        let memo = Memo<Int, Int>(limit: 2)
        let counter = Counter()
        for number in [1, 2, 3] { _ = memo.value(for: number) { counter.value(number) } }
        #expect(counter.count == 3)
        _ = memo.value(for: 2) { counter.value(2) }
        _ = memo.value(for: 3) { counter.value(3) }
        #expect(counter.count == 3)
        _ = memo.value(for: 1) { counter.value(1) }
        #expect(counter.count == 4)
    }

    @Test("a failed computation is not remembered")
    func failure() throws {
        let memo = Memo<Int, Int>(limit: 2)
        #expect(throws: Failed.self) {
            try memo.value(for: 1) { () throws(Failed) -> Int in throw Failed() }
        }
        #expect(memo.value(for: 1) { 7 } == 7)
    }
}
