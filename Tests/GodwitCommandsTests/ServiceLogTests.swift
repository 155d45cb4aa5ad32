import Testing

@testable import GodwitCommands

@Suite struct ServiceLogTests {
    @Test func aLineBeginsWithItsTime() {
        let log = ServiceLog { 1_700_000_000_999 }
        #expect(log.line("worker-1 joined") == "2023-11-14T22:13:20Z godwit: worker-1 joined")
    }
}
