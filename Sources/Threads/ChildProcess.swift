internal import CLinux
import Glibc

/// How a process ended.
package enum ProcessExit: Hashable, Sendable {
    /// By itself, with a status.
    case code(Int32)
    /// By a signal.
    case signal(Int32)
}

/// Why a child process could not be started.
package struct ChildProcessError: Error, Hashable, Sendable {
    /// What was tried.
    package enum Step: Hashable, Sendable {
        /// Making a process with its settings.
        case preparing
        /// Opening the file that is its input.
        case openingInput
        /// Entering its working folder.
        case enteringFolder
        /// Becoming the program.
        case becoming
        /// Watching it.
        case watching
    }

    package let step: Step
    /// The system's errno.
    package let number: Int32
}

/// A program that runs as a child, in a process group of its own.
///
/// Used by one thread, which must live as long as the process is wanted: the kernel kills the
/// process when the thread that started it ends (prctl(2), PR_SET_PDEATHSIG). It is killed when
/// the object goes.
package final class ChildProcess {
    /// What a child is given.
    package struct Setting {
        /// What it has as input; a device that gives nothing unless set.
        package var input = Array("/dev/null".utf8)
        /// Its working folder; nil for this process's own.
        package var folder: [UInt8]?
        /// What becomes its descriptor 3; nil for none.
        package var descriptor: Int32?
        /// Its limit of address space; nil for none.
        package var addressSpaceBytes: UInt64?

        package init(descriptor: Int32? = nil, addressSpaceBytes: UInt64? = nil) {
            self.descriptor = descriptor
            self.addressSpaceBytes = addressSpaceBytes
        }
    }

    package let id: Int64
    /// Readable when the process has ended.
    package let ending: Int32
    private var isReaped = false

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: of the executable; the first argument that it gets.
    ///   - arguments: the others.
    ///   - setting: what else it is given.
    /// - Throws: `ChildProcessError`.
    package init(
        _ path: [UInt8], arguments: [[UInt8]], _ setting: Setting = Setting()
    ) throws(ChildProcessError) {
        let (started, step) = Self.start(path, arguments, setting)
        guard started > 0 else {
            let tried: ChildProcessError.Step =
                switch Int(step) {
                case CLINUX_CHILD_OPENING_INPUT: .openingInput
                case CLINUX_CHILD_BECOMING: .becoming
                case CLINUX_CHILD_ENTERING_FOLDER: .enteringFolder
                default: .preparing
                }
            throw ChildProcessError(step: tried, number: Int32(clamping: -started))
        }
        let descriptor = clinux_child_descriptor(started)
        guard descriptor >= 0 else {
            Self.end(started)
            throw ChildProcessError(step: .watching, number: -descriptor)
        }
        id = started
        ending = descriptor
    }

    deinit {
        if !isReaped { Self.end(id) }
        _ = clinux_close(ending)
    }

    private static func end(_ id: Int64) {
        _ = clinux_child_signal(id, SIGKILL)
        var (code, signal): (Int32, Int32) = (0, 0)
        _ = clinux_child_reap(id, 1, &code, &signal)
    }

    private static func start(
        _ path: [UInt8], _ arguments: [[UInt8]], _ setting: Setting
    ) -> (process: Int64, step: Int32) {
        let input = setting.input.map { CChar(bitPattern: $0) } + [0]
        var step: Int32 = 0
        let folder = setting.folder.map { $0.map { CChar(bitPattern: $0) } + [0] } ?? []
        let process = withStrings([path] + arguments) { strings -> Int64 in
            guard let base = strings.baseAddress, let path = base.pointee else { return -1 }
            return input.withUnsafeBufferPointer { input in
                guard let input = input.baseAddress else { return -1 }
                return folder.withUnsafeBufferPointer { folder in
                    var child = clinux_child(
                        path: path, input: input, arguments: base,
                        folder: folder.isEmpty ? nil : folder.baseAddress,
                        descriptor: setting.descriptor ?? -1,
                        address_space: setting.addressSpaceBytes ?? 0)
                    return clinux_child_start(&child, &step)
                }
            }
        }
        return (process, step)
    }

    /// Runs a body with strings of C, a NULL behind them.
    private static func withStrings<Result>(
        _ strings: [[UInt8]],
        _ body: (UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var text: [CChar] = []
        for bytes in strings { text += bytes.map { CChar(bitPattern: $0) } + [0] }
        return text.withUnsafeMutableBufferPointer { buffer in
            var pointers: [UnsafeMutablePointer<CChar>?] = []
            var place = 0
            for bytes in strings {
                pointers.append(buffer.baseAddress.map { $0 + place })
                place += bytes.count + 1
            }
            pointers.append(nil)
            return pointers.withUnsafeMutableBufferPointer { body($0) }
        }
    }

    /// Kills the process and what it started.
    package func kill() {
        // It may have ended by itself; either way its end is seen.
        if !isReaped { _ = clinux_child_signal(id, SIGKILL) }
    }

    /// How the process ended; nil while it runs.
    ///
    /// Never waits, and has its answer once.
    package func reap() -> ProcessExit? {
        var (code, signal): (Int32, Int32) = (0, 0)
        guard !isReaped else { return nil }
        let result = clinux_child_reap(id, 0, &code, &signal)
        guard result != 0 else { return nil }
        isReaped = true
        // The kernel has no record of how it ended.
        guard result > 0 else { return .code(Self.unknownCode) }
        return signal == 0 ? .code(code) : .signal(signal)
    }

    /// Waits for the end; what the process has started and left ends with it.
    ///
    /// - Parameter isStopped: asked several times a second; once it says so, the process is killed.
    /// - Returns: how it ended.
    package func wait(unless isStopped: () -> Bool) -> ProcessExit {
        while true {
            let hasEnded = clinux_wait_readable(ending, Self.turnMilliseconds) > 0
            // Until the process is reaped, its group has no other process's number.
            if hasEnded || isStopped() { kill() }
            if hasEnded, let exit = reap() { return exit }
        }
    }

    private static let unknownCode: Int32 = 255

    private static let turnMilliseconds: Int32 = 100
}
