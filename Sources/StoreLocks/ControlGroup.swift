import Glibc

/// The control groups that a process belongs to (cgroups(7)).
struct ControlGroup: Hashable, Sendable {
    /// The text of `/proc/PID/cgroup`: a line `NUMBER:CONTROLLERS:PATH` for each hierarchy.
    let text: String

    /// Those of this process; none where they cannot be read.
    static var ofThisProcess: ControlGroup {
        guard let file = fopen("/proc/self/cgroup", "re") else { return ControlGroup(text: "") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = fread(&bytes, 1, bytes.count, file)
        return ControlGroup(text: String(decoding: bytes.prefix(count), as: UTF8.self))
    }

    /// Whether one of them is that of a service, as systemd names it, or lies below one.
    ///
    /// systemd ends everything below a service with it: groups that it delegated, and the sessions
    /// of a user's own manager.
    var isService: Bool {
        text.split(separator: "\n").contains { line in
            line.split(separator: "/").contains { $0.hasSuffix(".service") }
        }
    }
}
