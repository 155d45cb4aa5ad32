import Testing

@testable import Coordinator

/// What a coordinator's log says of connections that are refused again and again.
@Suite struct RefusalLogLimiterTests {
    @Test func eachKindIsToldAtOnceAndThenOnceAMinute() {
        var news = RefusalLogLimiter()
        #expect(news.due(at: 0).isEmpty)
        let a = PeerRefusal.unreadable(peer: "a", text: "b")
        news.add(.unreadAnswers)
        news.add(a)
        news.add(a)
        #expect(
            news.due(at: 1000) == [.refused(.unreadAnswers, times: 1), .refused(a, times: 2)])
        for second in 2...60 {
            news.add(a)
            #expect(news.due(at: Int64(second) * 1000).isEmpty)
        }
        #expect(news.due(at: 61_000) == [.refused(a, times: 59)])
        // Who stayed away for a while is news again.
        #expect(news.due(at: 121_000).isEmpty)
        news.add(a)
        #expect(news.due(at: 121_000) == [.refused(a, times: 1)])
    }

    @Test func manyKindsDoNotPileUp() {
        var news = RefusalLogLimiter()
        for number in 0..<10_000 { news.add(.unreadable(peer: "a", text: "\(number)")) }
        let notes = news.due(at: 0)
        #expect(notes.count == RefusalLogLimiter.limit + 1)
        #expect(notes.contains(.refused(.others, times: 10_000 - RefusalLogLimiter.limit)))
    }
}
