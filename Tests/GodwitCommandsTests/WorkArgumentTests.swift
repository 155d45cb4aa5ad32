import Testing

@testable import CommandSupport

/// What the command line of a worker says.
@Suite struct WorkArgumentTests {
    @Test(
        arguments: [
            ("ipc:///run/godwit/control", CoordinatorEndpoint.Reach.file),
            ("tcp://127.0.0.1:7000", .loopback), ("tcp://127.255.0.9:1", .loopback),
            ("tcp://localhost:7000", .loopback), ("tcp://[::1]:7000", .loopback),
            ("tcp://127.example.org:7000", .network), ("tcp://127.0.0.1.evil:7000", .network),
            ("tcp://127.0.0:7000", .network), ("tcp://[::2]:7000", .network),
            ("tcp://10.0.0.1:65535", .network), ("tcp://coordinator:7000", .network),
        ])
    func endpointsAreJudged(text: String, reach: CoordinatorEndpoint.Reach) {
        #expect(CoordinatorEndpoint(text)?.reach == reach)
    }

    @Test(
        arguments: [
            "", "ipc://", "ipc://relative", "tcp://", "tcp://host", "tcp://:7000",
            "tcp://host:0", "tcp://host:65536", "tcp://host:*", "inproc://a", "host:7000",
        ])
    func whatIsNoEndpointIsRefused(text: String) {
        #expect(CoordinatorEndpoint(text) == nil)
    }
}
