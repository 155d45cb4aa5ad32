import DurableFiles
import MigrationPlans
import SafeSQLite
import Threads

/// The objects of some lines that follow each other, ready to be written.
struct ObjectBatch: Sendable {
    struct Object: Sendable {
        let line: Int
        let object: ImportedObject
    }

    let part: ImportPart
    /// The number of the first line.
    let firstLine: Int
    let objects: [Object]
    /// Behind the last line.
    let end: PartPosition
    /// Whether the part ends with them.
    let isLast: Bool
}

/// Reads parts on a thread of its own, a few batches ahead of the writing.
struct ObjectReading: Sendable {
    /// What the thread hands over; a failure is the last.
    enum Step: Sendable {
        case batch(ObjectBatch)
        case failure(ImportError)
    }

    /// For messages.
    let store: String
    let schema: ImportSchema
    let options: ImportOptions
    let files: DurableFileSystem

    /// Batches that wait to be written; more would take memory without being faster.
    private static let ahead = 2

    /// Reads parts while a body takes their batches.
    ///
    /// - Parameters:
    ///   - parts: in their order, with positions behind which they are read.
    ///   - body: takes a batch.
    /// - Throws: what reading or the body throws; `ImportError.refused` without a thread.
    func run(
        _ parts: [(part: ImportPart, position: PartPosition?)],
        _ body: (ObjectBatch) throws -> Void
    ) throws {
        let mailbox = BoundedMailbox<Step>(capacity: Self.ahead)
        let thread: OwnedThread
        do throws(ThreadError) {
            thread = try OwnedThread(name: "parts") {
                if let failure = read(parts, into: mailbox) { mailbox.send(.failure(failure)) }
                mailbox.close()
            }
        } catch {
            throw ImportError.refused(
                store: store, reason: "no thread could be started: \(error)")
        }
        defer {
            // After a failure the thread may wait for room.
            _ = mailbox.closeAndDrain()
            thread.join()
        }
        while let step = mailbox.receive() {
            switch step {
            case .batch(let batch): try body(batch)
            case .failure(let error): throw error
            }
        }
    }

    private func read(
        _ parts: [(part: ImportPart, position: PartPosition?)], into mailbox: BoundedMailbox<Step>
    ) -> ImportError? {
        do throws(ImportError) {
            let parser = try ImportError.translating { try LineParser() }
            for (part, position) in parts {
                var reader = try PartReader(part.path, files)
                if let position { try reader.skip(to: position) }
                var isLast = false
                while !isLast {
                    let lines = try reader.next(
                        count: options.batchObjects, bytes: options.batchBytes)
                    isLast = lines.isLast
                    let batch = try batch(lines, of: part, parser)
                    guard mailbox.send(.batch(batch)) else { return nil }
                }
            }
            return nil
        } catch {
            return error
        }
    }

    private func batch(
        _ lines: PartLines, of part: ImportPart, _ parser: LineParser
    ) throws(ImportError) -> ObjectBatch {
        let objects = try lines.lines.map { line throws(ImportError) in
            do throws(ObjectFault) {
                return ObjectBatch.Object(
                    line: line.number,
                    object: try ImportedObject(try parser.parse(line.text), schema))
            } catch {
                throw ImportError(
                    error, part: part, line: line.number, resumesAt: lines.firstLine)
            }
        }
        return ObjectBatch(
            part: part, firstLine: lines.firstLine, objects: objects, end: lines.end,
            isLast: lines.isLast)
    }
}

extension ImportError {
    /// A fault of an object with its place.
    init(_ fault: ObjectFault, part: ImportPart, line: Int, resumesAt: Int) {
        switch fault {
        case .store(let error): self = .store(error)
        case .object(let reason):
            self = .line(
                part: part.path.description, line: line, reason: reason, resumesAt: resumesAt)
        }
    }
}
