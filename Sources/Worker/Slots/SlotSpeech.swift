import ClusterProtocol
import Foundation
import Jobs

/// Orders and reports as bytes: the one place that knows how they are written.
enum SlotSpeech {
    private struct Wire: Codable {
        var kind: Int
        var job: Job?
        var attempt: Attempt?
        var lease: Int?
        var roots: [[String]]?
        var report: Int?
        var text: String?
        var rows: Int64?
        var bytes: Int64?
        var receipt: Receipt?
        var code: FailureCode?
        var ended: Bool?
    }

    static func bytes(of order: SlotOrder) throws(SlotError) -> [UInt8] {
        switch order {
        case .setUp(let setup):
            try write(
                Wire(
                    kind: 0, roots: setup.roots.map { [$0.name, $0.folder] },
                    report: setup.reportMilliseconds))
        case .run(let order):
            try write(
                Wire(
                    kind: 1, job: order.job, attempt: order.attempt,
                    lease: order.leaseMilliseconds))
        case .cancel: try write(Wire(kind: 2))
        case .end: try write(Wire(kind: 3))
        }
    }

    static func bytes(of report: SlotReport) throws(SlotError) -> [UInt8] {
        switch report {
        case .ready(let engine): try write(Wire(kind: 10, text: engine))
        case .progress(let attempt, let rows, let bytes):
            try write(Wire(kind: 11, text: attempt, rows: rows, bytes: bytes))
        case .done(let receipt): try write(Wire(kind: 12, receipt: receipt))
        case .failed(let failure):
            try write(
                Wire(
                    kind: 13, roots: [[failure.attempt]], text: failure.text, code: failure.code,
                    ended: failure.slotEnded))
        }
    }

    static func order(_ bytes: [UInt8]) throws(SlotError) -> SlotOrder {
        let wire = try read(bytes)
        switch wire.kind {
        case 0:
            if let roots = wire.roots, let report = wire.report,
                roots.allSatisfy({ $0.count == 2 })
            {
                return .setUp(
                    SlotSetup(
                        roots: roots.map { SlotRoot(name: $0[0], folder: $0[1]) },
                        reportMilliseconds: report))
            }
        case 1:
            if let job = wire.job, let attempt = wire.attempt, let lease = wire.lease {
                return .run(JobOrder(job: job, attempt: attempt, leaseMilliseconds: lease))
            }
        case 2: return .cancel
        case 3: return .end
        default: break
        }
        throw .nonsense("no order")
    }

    static func report(_ bytes: [UInt8]) throws(SlotError) -> SlotReport {
        let wire = try read(bytes)
        switch wire.kind {
        case 10: if let engine = wire.text { return .ready(engine: engine) }
        case 11:
            if let attempt = wire.text, let rows = wire.rows, let bytes = wire.bytes {
                return .progress(attempt: attempt, rows: rows, bytes: bytes)
            }
        case 12: if let receipt = wire.receipt { return .done(receipt) }
        case 13:
            if let attempt = wire.roots?.first?.first, let code = wire.code, let text = wire.text {
                return .failed(
                    AttemptFailure(
                        attempt: attempt, code: code, text: text, slotEnded: wire.ended ?? false))
            }
        default: break
        }
        throw .nonsense("no report")
    }

    private static func write(_ wire: Wire) throws(SlotError) -> [UInt8] {
        do { return Array(try JSONEncoder().encode(wire)) } catch { throw .nonsense("\(error)") }
    }

    private static func read(_ bytes: [UInt8]) throws(SlotError) -> Wire {
        do {
            return try JSONDecoder().decode(Wire.self, from: Data(bytes))
        } catch {
            throw .nonsense("\(bytes.count) bytes that are no message")
        }
    }
}
