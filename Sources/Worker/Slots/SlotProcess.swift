internal import CLinux
import ClusterProtocol
import DurableFiles

/// How a slot's process ended.
enum SlotExit: Hashable, Sendable {
    case code(Int32)
    case signal(Int32)
}

/// The process of one slot and the parent's end of its socket.
///
/// Used by one thread, which must live as long as the process is wanted: the kernel kills the
/// process when the thread that started it ends (prctl(2), PR_SET_PDEATHSIG).
final class SlotProcess {
    let id: Int64
    /// Readable when the process has said something or has closed its end.
    let socket: Int32
    /// Readable when the process has ended.
    let ending: Int32
    private var incoming = SlotCodec.Reader<SlotReport>()
    private var outgoing: [UInt8] = []
    private var isReaped = false

    /// Bytes that are taken from the socket in one turn, so that no slot keeps others waiting.
    private static let turnBytes = 1 << 18

    /// Starts the process.
    ///
    /// - Parameters:
    ///   - program: what it becomes.
    ///   - setup: its arguments.
    ///   - limits: of its memory.
    ///   - input: a device that gives nothing.
    /// - Throws: `SlotError.system` where no process or descriptor is to be had, naming the file
    ///   that cannot be used.
    init(
        _ program: SlotProgram, setup: SlotSetup, limits: SlotLimits,
        input: FilePath = FilePath("/dev/null")
    ) throws(SlotError) {
        var ours: Int32 = -1
        var theirs: Int32 = -1
        try SlotError.check(clinux_socket_pair(&ours, &theirs), "creating a socket pair")
        let (started, step) = Self.start(
            program, arguments: setup.arguments, descriptor: theirs, limits: limits, input: input)
        _ = clinux_close(theirs)
        guard started > 0 else {
            _ = clinux_close(ours)
            let action =
                switch Int(step) {
                case CLINUX_CHILD_OPENING_INPUT: "opening \(input) for a slot"
                case CLINUX_CHILD_BECOMING: "starting \(program.path)"
                default: "creating a process for a slot"
                }
            throw .system(action: action, number: Int32(clamping: -started))
        }
        let descriptor = clinux_child_descriptor(started)
        guard descriptor >= 0 else {
            _ = clinux_close(ours)
            Self.end(started)
            throw .system(action: "watching a process", number: -descriptor)
        }
        id = started
        socket = ours
        ending = descriptor
    }

    deinit {
        if !isReaped { Self.end(id) }
        _ = clinux_close(socket)
        _ = clinux_close(ending)
    }

    private static func end(_ id: Int64) {
        _ = clinux_child_signal(id, SlotSignal.kill)
        var (code, signal): (Int32, Int32) = (0, 0)
        _ = clinux_child_reap(id, 1, &code, &signal)
    }

    private static func start(
        _ program: SlotProgram, arguments: [String], descriptor: Int32, limits: SlotLimits,
        input: FilePath
    ) -> (process: Int64, step: Int32) {
        let texts = (program.arguments + arguments).map { Array($0.utf8) }
        let input = input.bytes.map { CChar(bitPattern: $0) } + [0]
        var step: Int32 = 0
        let process = withStrings([program.path.bytes] + texts) { strings -> Int64 in
            guard let base = strings.baseAddress, let path = base.pointee else { return -1 }
            return input.withUnsafeBufferPointer { input in
                guard let input = input.baseAddress else { return -1 }
                var child = clinux_child(
                    path: path, input: input, arguments: base, descriptor: descriptor,
                    address_space: limits.addressSpaceBytes ?? 0)
                return clinux_child_start(&child, &step)
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

    /// Whether something could not be sent yet.
    var hasUnsent: Bool { !outgoing.isEmpty }

    /// Sends an order that `SlotCodec` encoded, as much of it as the socket takes now.
    ///
    /// - Throws: `SlotError`, also where the process has closed its end.
    func send(_ order: [UInt8]) throws(SlotError) {
        outgoing += order
        try sendRest()
    }

    /// Sends what was left.
    func sendRest() throws(SlotError) {
        while !outgoing.isEmpty {
            let sent = clinux_socket_send(socket, outgoing, outgoing.count)
            if sent == -SlotSignal.again { return }
            if sent == -SlotSignal.brokenPipe { throw .closed }
            outgoing.removeFirst(Int(try SlotError.check(sent, "sending to a slot")))
        }
    }

    /// What the process has said and whether it has closed its end; never waits.
    ///
    /// - Throws: `SlotError.nonsense` for what no slot says.
    func receive() throws(SlotError) -> (reports: [SlotReport], isClosed: Bool) {
        var isClosed = false
        var received = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while received < Self.turnBytes {
            let count = clinux_socket_receive(socket, &buffer, buffer.count)
            if count == -SlotSignal.again { break }
            // A process that dies with orders unread resets the connection.
            if count <= 0 {
                isClosed = true
                break
            }
            incoming.append(buffer[..<Int(count)])
            received += Int(count)
        }
        var reports: [SlotReport] = []
        try SlotError.coding { () throws(ProtocolError) in
            while let report = try incoming.next() { reports.append(report) }
        }
        return (reports, isClosed)
    }

    /// Kills the process and what it started.
    func kill() {
        // It may have ended by itself; either way its end is seen.
        if !isReaped { _ = clinux_child_signal(id, SlotSignal.kill) }
    }

    /// How the process ended; nil while it runs.
    ///
    /// Never waits, and has its answer once.
    func reap() -> SlotExit? {
        var (code, signal): (Int32, Int32) = (0, 0)
        guard !isReaped, clinux_child_reap(id, 0, &code, &signal) != 0 else { return nil }
        isReaped = true
        return signal == 0 ? .code(code) : .signal(signal)
    }
}
