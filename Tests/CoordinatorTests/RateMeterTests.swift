import Testing

@testable import Coordinator

@Suite struct RateMeterTests {
    @Test func nothingIsToldBeforeTimeHasPassed() {
        var meter = RateMeter()
        #expect(meter.rates == nil)
        meter.add(rows: 5, bytes: 50, at: 1000)
        #expect(meter.rates == nil)
        meter.add(rows: 9, bytes: 90, at: 1000)
        #expect(meter.rates == nil)
        #expect(meter.secondsLeft(1) == nil)
    }

    @Test func ratesAreOfASecond() throws {
        var meter = RateMeter()
        meter.add(rows: 10, bytes: 1000, at: 500)
        meter.add(rows: 40, bytes: 7000, at: 2500)
        let rates = try #require(meter.rates)
        #expect(rates.rows == 15)
        #expect(rates.bytes == 3000)
        #expect(meter.secondsLeft(30_500) == 10)
    }

    @Test func onlyTheLastSecondsCount() throws {
        var meter = RateMeter()
        for second in Int64(0)...60 {
            // Fast at first, and slow for longer than the window.
            let rows = second <= 20 ? second * 1000 : 20_000 + (second - 20)
            meter.add(rows: rows, bytes: rows, at: second * 1000)
        }
        #expect(try #require(meter.rates).rows == 1)
    }

    @Test func whatStandsStillHasNoEnd() throws {
        var meter = RateMeter()
        meter.add(rows: 7, bytes: 7, at: 0)
        meter.add(rows: 7, bytes: 7, at: 3000)
        #expect(try #require(meter.rates).bytes == 0)
        #expect(meter.secondsLeft(100) == nil)
    }

    @Test func hugeSumsDoNotOverflow() throws {
        var meter = RateMeter()
        meter.add(rows: 0, bytes: 0, at: 0)
        meter.add(rows: .max, bytes: .max, at: 2000)
        #expect(try #require(meter.rates).rows == .max / 2)
        #expect(try #require(meter.rates).bytes == .max / 2)
    }
}
