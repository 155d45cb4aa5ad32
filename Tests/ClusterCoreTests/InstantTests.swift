import ClusterVocabulary
import Testing

@Suite struct InstantTests {
    @Test func additionStopsAtTheEndOfTime() {
        let late = Instant(milliseconds: Int64.max - 5)
        #expect(late.adding(3).milliseconds == Int64.max - 2)
        #expect(late.adding(50).milliseconds == Int64.max)
        #expect(late.since(Instant(milliseconds: -10)) == Int64.max)
        #expect(Instant(milliseconds: 7).since(Instant(milliseconds: 9)) == -2)
    }
}
