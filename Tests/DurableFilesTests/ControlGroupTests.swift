import Testing

@testable import StoreLocks

/// A service manager kills what a service leaves.
@Suite struct ControlGroupTests {
    @Test(arguments: [
        ("0::/system.slice/godwit.service\n", true),
        ("12:pids:/\n1:name=systemd:/system.slice/godwit@1.service\n", true),
        ("0::/user.slice/user-1000.slice/session-4.scope\n", false),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/shell.scope\n", true),
        ("0::/system.slice/godwit.service/payload\n", true),
        ("0::/system.slice/docker-1f.scope/init\n", false),
        ("0::/\n", false), ("", false),
    ])
    func servicesAreKnownByTheirNames(text: String, isService: Bool) {
        #expect(ControlGroup(text: text).isService == isService)
    }
}
