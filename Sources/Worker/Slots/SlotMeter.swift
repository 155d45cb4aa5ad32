internal import CLinux
internal import SafeSQLite

/// What the running job has done since it began: rows by its counter, bytes by the kernel's count
/// of what the process, and programs that it runs, read and write.
///
/// The bytes see all that work consists of, whatever the engine is at: reading the source, sorting
/// on disk, summing a file up. A loop in which no byte moves and no row is written shows as
/// standing still. Where the kernel does not count, rows alone tell.
struct SlotMeter: Sendable {
    struct Reading: Hashable {
        var rows: Int64 = 0
        var read: UInt64 = 0
        var written: UInt64 = 0
    }

    let counter = RowCounter()
    private let traffic: @Sendable () -> Reading
    private let start: Reading
    private var last: Reading

    /// - Parameter traffic: what the kernel has counted by now, rows left at zero.
    init(traffic: @escaping @Sendable () -> Reading) {
        self.traffic = traffic
        start = traffic()
        last = start
    }

    /// Rows and bytes written since the job began, where anything moved since the last call.
    mutating func progress() -> (rows: Int64, bytes: Int64)? {
        var now = traffic()
        now.rows = counter.rows
        // Looking at the counters is reading, too: short files of the kernel's, and no more.
        let isStill =
            now.rows == last.rows && now.written == last.written
            && now.read <= last.read &+ Self.ownReading
        last = now
        if isStill { return nil }
        return (now.rows, Int64(clamping: now.written &- start.written))
    }

    /// More than one look at the counters reads: a few short files for each process.
    private static let ownReading: UInt64 = 4096

    /// What this process has read and written since it began.
    @Sendable static func ofThisProcess() -> Reading {
        var reading = Reading()
        _ = clinux_process_traffic(&reading.read, &reading.written)
        return reading
    }
}
