import Testing

@testable import Worker

/// What a worker's log says of a connection that is tried again and again.
@Suite struct LinkStateLogTests {
    @Test func silenceIsToldOnce() {
        var news = LinkStateLog()
        #expect(news.connects(to: "e") == .connecting(endpoint: "e"))
        #expect(news.connects(to: "e") == .unanswered(endpoint: "e"))
        for _ in 0..<5 { #expect(news.connects(to: "e") == nil) }
        // After an answer it is news again.
        #expect(news.lost("no key") == .lost(reason: "no key"))
        #expect(news.connects(to: "e") == nil)
        #expect(news.connects(to: "e") == .unanswered(endpoint: "e"))
        #expect(news.connects(to: "e") == nil)
    }

    @Test func aConnectionThatWasThereIsMissed() {
        var news = LinkStateLog()
        _ = news.connects(to: "e")
        news.welcomed()
        #expect(news.lost("closed") == .parted(reason: "closed"))
        #expect(news.connects(to: "e") == nil)
        #expect(news.connects(to: "e") == .unanswered(endpoint: "e"))
        news.welcomed()
        // The coordinator stood still, and the connection was given up.
        #expect(news.connects(to: "e") == .parted(reason: "no message arrived"))
        #expect(news.connects(to: "e") == .unanswered(endpoint: "e"))
        let text = WorkerNote.parted(reason: "it was closed").description
        #expect(text.contains("running jobs continue"))
        let unanswered = WorkerNote.unanswered(endpoint: "e").description
        #expect(unanswered.hasPrefix("no coordinator answers at e"))
    }

    @Test func aReasonIsToldOnceUntilSomethingChanges() {
        var news = LinkStateLog()
        _ = news.connects(to: "e")
        #expect(news.lost("no key") == .lost(reason: "no key"))
        for _ in 0..<5 {
            #expect(news.connects(to: "e") == nil)
            #expect(news.lost("no key") == nil)
        }
        // Which side is first may change; each is told once.
        #expect(news.lost("closed") == .lost(reason: "closed"))
        #expect(news.lost("no key") == nil)
        let refusals = ["taken", "taken", "other release"].map { news.refused($0) }
        #expect(refusals == [true, false, true])
        news.welcomed()
        #expect(news.lost("no key") == .parted(reason: "no key"))
        #expect(news.lost("no key") == .lost(reason: "no key"))
        // Who stood still is back, and refuses again.
        _ = news.connects(to: "e")
        #expect(news.connects(to: "e") == .unanswered(endpoint: "e"))
        #expect(news.lost("no key") == .lost(reason: "no key"))
    }
}
