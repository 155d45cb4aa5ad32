internal import CLinux
import ClusterProtocol
import DurableFiles
import Threads

/// The process of one slot and the parent's end of its socket.
///
/// Used by one thread, which must live as long as the process is wanted: the kernel kills the
/// process when the thread that started it ends (prctl(2), PR_SET_PDEATHSIG).
final class SlotProcess {
    private let process: ChildProcess
    /// Readable when the process has said something or has closed its end.
    let socket: Int32
    private var incoming = SlotCodec.Reader<SlotReport>()
    private var outgoing: [UInt8] = []

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
        var setting = ChildProcess.Setting(
            descriptor: theirs, addressSpaceBytes: limits.addressSpaceBytes)
        setting.input = input.bytes
        let texts = (program.arguments + setup.arguments).map { Array($0.utf8) }
        defer { _ = clinux_close(theirs) }
        do throws(ChildProcessError) {
            process = try ChildProcess(program.path.bytes, arguments: texts, setting)
        } catch {
            _ = clinux_close(ours)
            let action =
                switch error.step {
                case .openingInput: "opening \(input) for a slot"
                case .becoming: "starting \(program.path)"
                case .preparing, .enteringFolder: "creating a process for a slot"
                case .watching: "watching a process"
                }
            throw .system(action: action, number: error.number)
        }
        socket = ours
    }

    deinit { _ = clinux_close(socket) }

    var id: Int64 { process.id }
    /// Readable when the process has ended.
    var ending: Int32 { process.ending }

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
    func kill() { process.kill() }

    /// How the process ended; nil while it runs.
    ///
    /// Never waits, and has its answer once.
    func reap() -> ProcessExit? { process.reap() }
}
