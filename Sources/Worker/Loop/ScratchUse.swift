import DurableFiles

/// What the temporary files of a worker's slots take, and who is to end where that is too much.
struct ScratchUse: Hashable, Sendable {
    /// A job that runs in a slot's process.
    struct Job: Hashable, Sendable {
        let slot: Int
        let process: Int64
        let attempt: String
    }

    /// Bytes of each job's files.
    var bytes: [Job: Int64] = [:]

    var total: Int64 {
        bytes.values.reduce(0) { sum, next in
            let (result, overflow) = sum.addingReportingOverflow(next)
            return overflow ? .max : result
        }
    }

    /// The job that takes most, where all of them take more than the limit.
    func excess(over limit: Int64) -> Job? {
        guard total > limit else { return nil }
        return bytes.max { ($0.value, $0.key.slot) < ($1.value, $1.key.slot) }?.key
    }

    /// Looks at the files of jobs.
    ///
    /// SQLite's temporary files lose their name as they are made (os_unix.c, `unixOpen` with
    /// `SQLITE_OPEN_DELETEONCLOSE`), so they are not in the folder: they are the files without a
    /// name that a process has open (proc(5), `/proc/PID/fd`).
    ///
    /// - Parameters:
    ///   - jobs: to look at; one whose process has ended takes nothing.
    ///   - device: of the scratch folder.
    /// - Returns: the bytes of each job.
    /// - Throws: `DurableFileError` where the system does not tell.
    static func measure(_ jobs: [Job], device: UInt64) throws(DurableFileError) -> ScratchUse {
        var use = ScratchUse()
        for job in jobs { use.bytes[job] = try bytes(of: job.process, device: device) }
        return use
    }

    private static func bytes(
        of process: Int64, device: UInt64
    ) throws(DurableFileError) -> Int64 {
        let folder = FilePath("/proc/\(process)/fd")
        do throws(DurableFileError) {
            var sum: Int64 = 0
            for name in try DurableFileSystem().names(in: folder) {
                // It may have closed the file since.
                guard let file = try FileStatus.ifPresent(folder.appending(name)),
                    file.isRegularFile, file.links == 0, file.identity.device == device
                else { continue }
                let (next, overflow) = sum.addingReportingOverflow(max(0, file.size))
                sum = overflow ? .max : next
            }
            return sum
        } catch {
            if error.isMissing { return 0 }
            throw error
        }
    }
}
