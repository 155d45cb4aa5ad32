internal import CLinux
internal import Glibc

/// A process of this machine that has a file open.
package struct FileUser: Hashable, Sendable {
    package let process: Int64
    /// The first 15 bytes of the program's name (proc(5), comm), unprintable bytes escaped; empty
    /// where it cannot be read.
    package let command: String

    /// The processes that have a file open, in the order of their numbers; this one only where it
    /// has the file open by more than the one descriptor of a lock, and guardians never.
    ///
    /// For messages: processes of other users are seen by root alone, those of another process
    /// namespace never, and the answer is old when it is returned.
    ///
    /// - Complexity: one look at every open file of the machine, and at every mapped one where no
    ///   process has it open.
    package static func all(of file: FileIdentity) -> [FileUser] {
        let users = all(of: file, in: "fd")
        // A mapping keeps a file open whose descriptor was closed (proc(5), map_files).
        return users.isEmpty ? all(of: file, in: "map_files") : users
    }

    /// The processes that have a file open at one of several looks, as programs do that open and
    /// close it again and again.
    ///
    /// - Complexity: so many looks at every open file of the machine at most, in half a second.
    package static func some(of file: FileIdentity, looks: Int) -> [FileUser] {
        let start = clinux_monotonic()
        for _ in 0..<looks {
            let users = all(of: file, in: "fd")
            guard users.isEmpty, clinux_monotonic() - start < 500 else { return users }
            // Not in step with a program that does so in even steps.
            clinux_sleep(1)
        }
        return []
    }

    /// The words that a report about a changed store has after its path: the other programs that
    /// have it open now, or that none can be seen, because the one that wrote it has closed it;
    /// nothing for a file that is gone.
    ///
    /// - Complexity: as `all`.
    package static func apposition(of path: FilePath) -> String {
        let identity: FileIdentity
        do throws(DurableFileError) {
            identity = try FileStatus(of: path).identity
        } catch {
            return ""
        }
        // A run reads a store by several processes.
        let own = FileUser(process: clinux_process_id())
        let others = all(of: identity).filter {
            $0.process != own.process && $0.command != own.command
        }
        return others.isEmpty
            ? ", which no program that godwit can see has open now,"
            : ", which is open in \(words(others)),"
    }

    // `links`: the folder of a process in which links lead to its files.
    private static func all(of file: FileIdentity, in links: FilePath) -> [FileUser] {
        let own = clinux_process_id()
        var users: [FileUser] = []
        for name in names(in: "/proc") {
            guard let process = Int64(name.description) else { continue }
            let folder = FilePath("/proc").appending(name)
            guard count(folder.appending(links), of: file) > (process == own ? 1 : 0) else {
                continue
            }
            let command = command(of: folder)
            // Guardians have files open and use none.
            if command == CLINUX_GUARDIAN_NAME { continue }
            users.append(FileUser(process: process, command: command))
        }
        return users.sorted { $0.process < $1.process }
    }

    /// A process that holds a lock, by its number.
    package init(process: Int64) {
        self.process = process
        command = FileUser.command(of: FilePath("/proc").appending("\(process)"))
    }

    private init(process: Int64, command: String) {
        self.process = process
        self.command = command
    }

    /// The users in words, as in "… is open in X".
    package static func words(_ users: [FileUser]) -> String {
        guard !users.isEmpty else {
            return "a process that has since closed it, or that Godwit cannot see (of another "
                + "user or container)"
        }
        let shown = users.prefix(5).map { user in
            user.command.isEmpty
                ? "pid \(user.process)" : "\(user.command) (pid \(user.process))"
        }
        let rest = users.count - shown.count
        return shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }

    /// How many links of a folder lead to a file.
    private static func count(_ folder: FilePath, of file: FileIdentity) -> Int {
        names(in: folder).count { name in
            let link = folder.appending(name)
            var buffer = [CChar](repeating: 0, count: 2)
            let length = link.withPointerIfPossible { clinux_read_link($0, &buffer, 1) } ?? -1
            // Sockets and pipes have no path; asking a hung network server would hang, too.
            guard length > 0, buffer[0] == CChar(UInt8(ascii: "/")) else { return false }
            var status = clinux_status()
            guard link.withPointerIfPossible({ clinux_stat($0, &status) }) == 0 else {
                return false
            }
            return status.inode == file.inode && status.device == file.device
        }
    }

    private static func names(in folder: FilePath) -> [FilePath] {
        do throws(DurableFileError) {
            return try DurableFileSystem().names(in: folder)
        } catch {
            // The process ended, or is another user's.
            return []
        }
    }

    private static func command(of folder: FilePath) -> String {
        do throws(DurableFileError) {
            let file = try DurableFileSystem().openForReading(folder.appending("comm"))
            let bytes = try file.read(count: 64, at: 0).prefix { $0 != UInt8(ascii: "\n") }
            return FilePath(bytes: Array(bytes)).description
        } catch {
            return ""
        }
    }
}

extension FilePath {
    /// As `withPointer`, nil for a path that the system would not read whole.
    fileprivate func withPointerIfPossible<Result>(
        _ body: (UnsafePointer<CChar>) -> Result
    ) -> Result? {
        do throws(DurableFileError) {
            return try withPointer { pointer throws(DurableFileError) in body(pointer) }
        } catch {
            return nil
        }
    }
}

/// What `/proc/locks` says, for messages alone: it may be missing, and is old when it is read.
package enum ProcessLocks {
    private static let limit = 1 << 20

    /// The process that holds a lock of a kind on a file; nil where it cannot be told.
    package static func process(locking identity: FileIdentity, kind: String) -> FileUser? {
        let bytes: [UInt8]
        do throws(DurableFileError) {
            let file = try DurableFileSystem().openForReading("/proc/locks")
            bytes = try file.read(count: limit, at: 0)
        } catch {
            return nil
        }
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            // "1: FLOCK  ADVISORY  WRITE 812 fe:00:1234 0 EOF"
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard words.count >= 6, words[1] == kind, let process = Int64(words[4]), process > 0,
                words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == identity.inode
            else { continue }
            return FileUser(process: process)
        }
        return nil
    }
}
