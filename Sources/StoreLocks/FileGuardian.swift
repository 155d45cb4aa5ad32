internal import CLinux
internal import DurableFiles
internal import Glibc
internal import Synchronization

/// A process beside this one that shares the files from which clients are kept out during a swap.
///
/// What keeps a client out, a lease and SQLite's lock bytes, belongs to an open file description,
/// and goes with the last process that has it. A program that waits in open(2) for a file that has
/// just lost its store's name would get that file if this process were killed then, and would use
/// it beside the `-wal` of the new one. The guardian lets it open the file, and keeps the lock
/// bytes until it has closed it, however long that takes.
package enum FileGuardian {
    private struct State {
        var isOn = false
        var socket: Int32?
        var last: UInt64 = 0
    }

    private static let state = Mutex(State())

    /// Lets this process have a guardian, which is started with the first file that it is to hold.
    ///
    /// For commands: a library cannot know what its process may fork.
    package static func enable() { state.withLock { $0.isOn = true } }

    /// Whether files are handed to a guardian.
    static var isOn: Bool { state.withLock { $0.isOn } }

    /// Whether a guardian has what was handed over and will live on when this process has ended.
    ///
    /// The first process of a PID namespace takes every other one with it, and may end together
    /// with this one, as that of a container that runs one command does. A service manager kills
    /// what is left of a service when its main process has ended (systemd.kill(5)).
    static var outlivesProcess: Bool {
        state.withLock { state in
            guard let socket = state.socket else { return false }
            // It says nothing: what can be read is its end.
            return clinux_wait_readable(socket, 0) == 0
                && clinux_is_first_pid_namespace() == 1 && !ControlGroup.ofThisProcess.isService
        }
    }

    /// Hands over a file from which clients are kept out.
    ///
    /// - Parameters:
    ///   - descriptor: of the file, with its lease and lock bytes.
    ///   - name: the absolute path of the name that changes hands.
    /// - Returns: the number by which it is told what becomes of the file; nil where there is no
    ///   guardian, and then the file is safe for as long as this process lives.
    static func hold(_ descriptor: Int32, of name: FilePath) -> UInt64? {
        state.withLock { state in
            guard state.isOn else { return nil }
            if state.socket == nil {
                let started = clinux_guardian_start()
                guard started >= 0 else { return nil }
                state.socket = started
            }
            guard let socket = state.socket else { return nil }
            state.last += 1
            let number = state.last
            let path = name.bytes.map { CChar(bitPattern: $0) } + [0]
            if clinux_guardian_hold(socket, number, descriptor, path) == 0 { return number }
            // It was killed: another one takes the next file.
            _ = clinux_close(socket)
            state.socket = nil
            return nil
        }
    }

    /// Releases a file: everything was given back on it.
    static func admit(_ number: UInt64) {
        state.withLock { state in
            if let socket = state.socket { _ = clinux_guardian_admit(socket, number) }
        }
    }

    /// Leaves a file to the guardian until no program has another file open for writing.
    ///
    /// - Parameters:
    ///   - number: of the file.
    ///   - other: a descriptor of the other file, open for reading alone.
    static func keep(_ number: UInt64, until other: Int32) {
        state.withLock { state in
            if let socket = state.socket { _ = clinux_guardian_keep(socket, number, other) }
        }
    }

    /// Leaves a file to the guardian.
    static func abandon(_ number: UInt64) {
        state.withLock { state in
            if let socket = state.socket { _ = clinux_guardian_abandon(socket, number) }
        }
    }
}
