import Testing

@testable import Coordinator

/// What a coordinator's log says of connections that are refused again and again.
@Suite struct RefusalLogLimiterTests {
    @Test func eachKindIsToldAtOnceAndThenOnceAMinute() {
        var news = RefusalLogLimiter()
        #expect(news.due(at: 0).isEmpty)
        news.add("b")
        news.add("a")
        news.add("a")
        #expect(news.due(at: 1000) == ["a (2 times)", "b"])
        for second in 2...60 {
            news.add("a")
            #expect(news.due(at: Int64(second) * 1000).isEmpty)
        }
        #expect(news.due(at: 61_000) == ["a (59 times)"])
        // Who stayed away for a while is news again.
        #expect(news.due(at: 121_000).isEmpty)
        news.add("a")
        #expect(news.due(at: 121_000) == ["a"])
    }

    @Test func manyKindsDoNotPileUp() {
        var news = RefusalLogLimiter()
        for number in 0..<10_000 { news.add("key \(number)") }
        let lines = news.due(at: 0)
        #expect(lines.count == RefusalLogLimiter.limit + 1)
        #expect(lines.contains { $0.contains("(\(10_000 - RefusalLogLimiter.limit) times)") })
    }
}
