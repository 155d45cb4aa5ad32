import ClusterCore
@testable import Coordinator
import CoreDataStore
import DurableFiles
import GRDB
import Glibc
import Jobs
import MigrationEngine
import RunLedger
@testable import RunService
@testable import StoreRuns
import StateFolders
import Testing

// What the coordinator takes of shards.

extension PartitionedStoreSessionTests {
    /// A store that was cut into chunks, and the receipt of its first one.
    private func deliverShard(_ lab: SharingLab) throws -> (run: ClusterRun, receipt: Receipt) {
        let (run, _) = try begin(lab)
        let life = try Life(lab, run)
        let work = try #require(try life.prepare().steps.first?.works.first)
        return (run, try life.deliver(work))
    }

    @Test func shardsThatDifferFromTheirReceiptsAreRefused() throws {
        try SharingLab.run { lab in
            let (run, receipt) = try deliverShard(lab)
            let file = try lab.dependencies.roots.resolve(try #require(receipt.files.first).file)
            let whole = try lab.files.contents(of: file, limit: 1 << 30)
            let deliveries = ResultIntake(of: run, checked: .init())
            // A byte of a value is seen by its hash alone.
            var changed = whole
            changed[whole.count - 1] ^= 1
            for bytes in [whole + [0], changed] {
                try lab.files.publish(bytes, to: file)
                let error = #expect(throws: RunError.self) { _ = try deliveries.admit(receipt) }
                #expect(error?.cause == .badDelivery)
            }
            try lab.files.publish(whole, to: file)
            _ = try deliveries.admit(receipt)
        }
    }

    /// Terabytes without content, which would be read for hours, are refused unread.
    @Test func aSparseShardIsRefusedUnread() throws {
        try SharingLab.run { lab in
            let (run, receipt) = try deliverShard(lab)
            let told = try #require(receipt.files.first)
            let path = try lab.dependencies.roots.resolve(told.file)
            let whole = try lab.files.contents(of: path, limit: 1 << 30)
            let file = try lab.files.openForWriting(path)
            try file.setSize(1 << 42)
            try file.close()
            let lying = Self.receipt(
                receipt, of: DeliveredFile(file: told.file, bytes: 1 << 42, digest: told.digest))
            let deliveries = ResultIntake(of: run, checked: .init())
            let error = #expect(throws: RunError.self) { _ = try deliveries.admit(lying) }
            #expect(error?.cause == .badDelivery)
            try lab.files.publish(whole, to: path)
            _ = try deliveries.admit(receipt)
        }
    }

    private static func receipt(_ receipt: Receipt, of file: DeliveredFile) -> Receipt {
        Receipt(
            run: receipt.run, store: receipt.store, work: receipt.work, attempt: receipt.attempt,
            epoch: receipt.epoch, files: [file], rows: receipt.rows, sums: receipt.sums,
            counts: receipt.counts)
    }

    /// What a worker may write into a shard whose receipt fits it.
    static let lies = [
        "ALTER TABLE #T RENAME TO ZOTHER",
        "CREATE TABLE ZMORE (x)",
        "INSERT INTO #T SELECT * FROM #T WHERE 0; CREATE INDEX own ON #T (1)",
        "DELETE FROM #T WHERE rowid = (SELECT max(rowid) FROM #T)",
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = "
            + "replace(sql, ')', ', more AS (instr(zeroblob(9000000), x''01'')))')",
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 1",
    ]

    /// A liar's shard is the liar's fault: the store is not, and another worker makes it.
    @Test(arguments: lies) func shardsOfALiarAreRefused(lie: String) throws {
        try SharingLab.run { lab in
            let (run, receipt) = try deliverShard(lab)
            let told = try #require(receipt.files.first)
            let file = try lab.dependencies.roots.resolve(told.file)
            let whole = try lab.files.contents(of: file, limit: 1 << 30)
            let queue = try DatabaseQueue(path: file.description)
            try queue.writeWithoutTransaction { database in
                let table = try #require(
                    try String.fetchOne(database, sql: "SELECT name FROM sqlite_master"))
                try database.execute(sql: lie.replacing("#T", with: table))
            }
            try queue.close()
            let content = try ContentDigest.hexadecimal(of: file, files: lab.files)
            let lying = Self.receipt(
                receipt,
                of: DeliveredFile(file: told.file, bytes: content.bytes, digest: content.digest))
            let deliveries = ResultIntake(of: run, checked: .init())
            let error = #expect(throws: RunError.self) { _ = try deliveries.admit(lying) }
            #expect(error?.cause == .badDelivery, "\(String(describing: error))")
            try lab.files.publish(whole, to: file)
            _ = try deliveries.admit(receipt)
        }
    }
}
