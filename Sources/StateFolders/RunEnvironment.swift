package import DurableFiles

/// What a run gets from outside: files, clocks, waiting.
package struct RunEnvironment: Sendable {
    /// Through which durable actions go.
    package var files: DurableFileSystem
    /// Seconds that never go back.
    package var clock: @Sendable () -> Double
    /// Milliseconds since 1970, for people who read the ledger.
    package var wallTime: @Sendable () -> Int64
    /// Names the time since the machine was started: what was not synced before is not trusted.
    package var bootIdentifier: String
    /// Makes a short name that no other run has: letters, digits and hyphens, at most 40.
    package var identifier: @Sendable () -> String
    /// Waits about so many seconds.
    package var wait: @Sendable (Double) -> Void
    /// Told what no store's result or failure says, in words for people.
    package let warn: @Sendable (String) -> Void
    /// Keeps the files that lost their stores' names; a command that swaps finishes it.
    package let replaced: ReplacedFileWatch

    package init(
        files: DurableFileSystem = DurableFileSystem(), clock: @escaping @Sendable () -> Double,
        wallTime: @escaping @Sendable () -> Int64 = { 0 },
        bootIdentifier: String = RunEnvironment.currentBoot,
        identifier: @escaping @Sendable () -> String = { "" },
        wait: @escaping @Sendable (Double) -> Void = { _ in },
        reportLateClient: @escaping @Sendable (LateClient) -> Void = { _ in },
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.files = files
        self.clock = clock
        self.wallTime = wallTime
        self.bootIdentifier = bootIdentifier
        self.identifier = identifier
        self.wait = wait
        self.warn = warn
        replaced = ReplacedFileWatch(files: files, report: reportLateClient)
    }

    /// The same environment for folders in which others may make links: none is followed.
    package var refusingLinks: RunEnvironment {
        var changed = self
        changed.files = files.with(.refused)
        return changed
    }

    /// The kernel's identifier of this boot (proc(5), random/boot_id); empty where it cannot be
    /// read, and then nothing is taken to be from another boot.
    package static var currentBoot: String {
        do throws(DurableFileError) {
            let file = try DurableFileSystem().openForReading(
                FilePath("/proc/sys/kernel/random/boot_id"))
            let bytes = try file.read(count: 64, at: 0)
            return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        } catch {
            return ""
        }
    }
}
