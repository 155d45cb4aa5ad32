import DurableFiles
import MigrationPlans
import SafeSQLite
import Threads

/// What passes between a thread that makes rows and the one that owns their table.
final class RowLane: Sendable {
    enum Message: Sendable {
        case batch(LeafBatch)
        /// A part is complete, with so many rows.
        case end(rows: Int64)
        case outOfReach
        case failed(EngineError)
    }

    let number: Int
    let sink: RowSink
    private let messages: BoundedMailbox<Message>
    private let empty: BoundedMailbox<LeafBatch>

    /// Batches that wait to be written: a thread may be ahead by a part of usual size.
    private static let capacity = 8

    init(
        _ number: Int, of count: Int, _ format: PageFormat, _ indexes: [TableRebuild.Index],
        _ settings: TableRebuild.Settings
    ) {
        self.number = number
        let messages = BoundedMailbox<Message>(capacity: Self.capacity)
        let empty = BoundedMailbox<LeafBatch>(capacity: Self.capacity)
        self.messages = messages
        self.empty = empty
        sink = RowSink(format, indexes, settings, lane: (number, count)) {
            batch throws(EngineError) in
            guard messages.send(.batch(batch)) else { throw .store(.cancelled("")) }
            return empty.receiveNow(upTo: 1).first ?? LeafBatch(format)
        }
    }

    /// Waits for what the thread has to say next.
    func next() -> Message {
        messages.receive() ?? .failed(.internalError("a thread that makes rows ended early"))
    }

    /// Tells the owner; false where it does not listen any more.
    func send(_ message: Message) -> Bool { messages.send(message) }

    /// Gives a batch back that was written.
    func giveBack(_ batch: LeafBatch) {
        batch.clear()
        _ = empty.sendIfRoom(batch)
    }

    /// Makes the thread end at its next message.
    func close() { messages.close() }
}

/// Threads that make the rows below inner pages of a table: the first one makes the first part, the
/// second one the second, and so on by turns.
struct RowThreads {
    private let lanes: [RowLane]
    private let threads: [OwnedThread]

    /// - Parameters:
    ///   - lanes: one for each thread.
    ///   - rows: what they make.
    ///   - parts: inner pages of the table that is read.
    ///   - path: of its database.
    ///   - files: opens it.
    /// - Throws: `EngineError` where threads cannot be started.
    init(
        _ lanes: [RowLane], _ rows: TableRebuild.Rows, _ parts: [UInt32], of path: FilePath,
        _ files: DurableFileSystem
    ) throws(EngineError) {
        self.lanes = lanes
        let stop = StatementStop.current
        var started: [OwnedThread] = []
        do {
            for lane in lanes {
                started.append(
                    try OwnedThread(name: "rows \(lane.number)") {
                        do throws(EngineError) {
                            try StatementStop.reaching(stop) { () throws(EngineError) in
                                try Self.work(
                                    lane, of: lanes.count, rows, parts,
                                    try PageImage(reading: path, files))
                            }
                        } catch {
                            // The owner does not listen where another one failed before.
                            _ = lane.send(.failed(error))
                        }
                    })
            }
        } catch {
            for lane in lanes { lane.close() }
            for thread in started { thread.join() }
            throw .internalError("threads cannot be started: \(error)")
        }
        threads = started
    }

    private static func work(
        _ lane: RowLane, of count: Int, _ rows: TableRebuild.Rows, _ parts: [UInt32],
        _ image: PageImage
    ) throws(EngineError) {
        let records = TableRecords(image, root: rows.root, columns: rows.fields)
        let copier = RowCopier(rows)
        let sink = lane.sink
        for place in stride(from: lane.number, to: parts.count, by: count) {
            let before = sink.count
            let isDone = try records.forEach(below: parts[place]) { row throws(EngineError) in
                try copier.copy(row, into: sink)
            }
            guard isDone else {
                _ = lane.send(.outOfReach)
                return
            }
            try sink.filler.endPart()
            guard lane.send(.end(rows: sink.count - before)) else { return }
        }
    }

    /// Waits for the ends of the threads.
    ///
    /// - Parameter isDone: whether all parts were received; otherwise threads drop their work, and
    ///   their lanes are of no more use.
    func end(isDone: Bool) {
        if !isDone {
            for lane in lanes { lane.close() }
        }
        for thread in threads { thread.join() }
    }
}
