import Testing

@testable import Worker

@Suite struct WatchdogTests {
    private let limits = SlotLimits(
        addressSpaceBytes: nil, silenceMilliseconds: 100, jobMilliseconds: 250)

    @Test func silenceIsCountedFromTheLastProgress() {
        var watchdog = SlotWatchdog(limits, now: 1000)
        #expect(watchdog.deadline == 1100)
        #expect(watchdog.verdict(at: 1099) == nil)
        #expect(watchdog.verdict(at: 1100)?.contains("no row") == true)
        watchdog.progressed(at: 1090)
        #expect(watchdog.verdict(at: 1189) == nil)
        #expect(watchdog.deadline == 1190)
    }

    @Test func aBusyJobHasItsLimit() {
        var watchdog = SlotWatchdog(limits, now: 0)
        for time in stride(from: Int64(50), through: 240, by: 50) { watchdog.progressed(at: time) }
        #expect(watchdog.deadline == 250)
        #expect(watchdog.verdict(at: 249) == nil)
        #expect(watchdog.verdict(at: 250)?.contains("longer than the limit for a job") == true)
    }

    @Test func limitsThatCannotBeCountedNeverCome() {
        let limits = SlotLimits(addressSpaceBytes: nil, silenceMilliseconds: .max)
        #expect(SlotWatchdog(limits, now: 5).deadline == .max)
        #expect(SlotWatchdog(limits, now: 5).verdict(at: .max - 1) == nil)
    }

    @Test func pausesGrowAndEnd() {
        var backOff = SlotBackOff()
        let pauses = (0..<12).map { _ in backOff.ended() }
        #expect(pauses.prefix(5) == [0, 100, 200, 400, 800])
        #expect(pauses.last == SlotBackOff.longest)
        #expect(pauses == pauses.sorted())
        backOff.succeeded()
        #expect(backOff.ended() == 0)
    }
}
