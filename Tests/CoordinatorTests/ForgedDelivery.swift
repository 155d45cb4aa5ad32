import ClusterCore
@testable import Coordinator
import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import Jobs
import MigrationEngine
import RunLedger
@testable import RunService
import SafeSQLite
import StoreForge
import TestSupport
import Testing

/// What a worker delivered of a small store, honest until a test changes it.
struct ForgedDelivery {
    let lab: SharingLab
    let run: ClusterRun
    let store: FilePath
    let deliveries: ResultIntake
    /// The attempt's folder.
    let folder: FilePath
    /// What the honest result holds.
    let content: [String]
    var receipt: Receipt

    /// - Parameters:
    ///   - lab: where it happens.
    ///   - isPublished: whether the result goes beside its original.
    ///   - isAtRest: whether the store has nothing in a log.
    ///   - schema: SQL that gives the store objects of its app's own.
    ///   - writesStep: whether a store is written on the way.
    /// - Throws: what stands in the way.
    init(
        _ lab: SharingLab, isPublished: Bool, isAtRest: Bool = true, schema: String = "",
        writesStep: Bool = false
    ) throws {
        let store = try isAtRest ? lab.forge("a.sqlite", notes: 40) : Self.logged(lab)
        if !schema.isEmpty { try Self.edit(store, schema) }
        let other = try lab.forge("b.sqlite", notes: 30, seed: 2)
        let output = isPublished ? lab.folder.appending("out") : nil
        let run = try lab.begin([store, other], output: output, writesStep: writesStep)
        let (_, job, attempt) = try lab.beginWhole(run)
        receipt = try lab.run(job, attempt)
        folder = try lab.dependencies.roots.resolve(receipt.files[0].file).parent
        content = try lab.content(folder.appending("store.sqlite"))
        deliveries = ResultIntake(of: run, checked: ResultIntake.CheckedFiles())
        (self.lab, self.run, self.store) = (lab, run, store)
    }

    /// A store whose last change lies in its log.
    private static func logged(_ lab: SharingLab) throws -> FilePath {
        let (open, store) = (try lab.forge("open.sqlite", notes: 40), lab.path("a.sqlite"))
        let connection = try Connection(path: open, mode: .readWrite)
        try connection.execute("UPDATE ZNOTE SET ZTITLE = 'in the log' WHERE Z_PK = 1")
        for suffix in ["", "-wal"] {
            _ = try lab.files.clone(
                from: open.adding(suffix: suffix), to: store.adding(suffix: suffix))
        }
        try connection.close()
        let (from, into) = (
            StoreLocation(open).externalData, StoreLocation(store).externalData
        )
        try lab.files.makeFolders(into)
        for name in try lab.files.names(in: from) {
            _ = try lab.files.clone(from: from.appending(name), to: into.appending(name))
        }
        return store
    }

    var result: FilePath { folder.appending("store.sqlite") }
    /// The store on the way.
    var step: FilePath { folder.appending("store.sqlite_step-1") }
    /// Where a report would be.
    var report: FilePath { folder.appending("outcome.json") }
    var external: FilePath {
        folder.appending("store.sqlite_SUPPORT").appending("_EXTERNAL_DATA")
    }

    /// What the accepted result holds.
    func acceptedContent(_ admitted: Receipt) throws -> [String] {
        try lab.content(try lab.dependencies.roots.resolve(admitted.files[0].file))
    }

    /// Runs SQL on a closed database, which is one closed file afterwards.
    static func edit(_ path: FilePath, _ sql: String) throws {
        let connection = try Connection(path: path, mode: .create)
        try connection.execute(sql)
        try connection.close()
    }

    func edit(_ sql: String) throws { try Self.edit(result, sql) }

    /// The texts that a query finds in the result.
    func texts(_ sql: String) throws -> [String] {
        let connection = try Connection(path: result, mode: .immutable)
        let texts = try connection.texts(sql)
        try connection.close()
        return texts
    }

    /// Replaces a file whatever it is.
    func write(_ bytes: [UInt8], to path: FilePath) throws {
        try lab.files.removeTree(path)
        try lab.files.publish(bytes, to: path)
    }

    /// Lets the receipt say what the files are now.
    mutating func relabel() throws {
        var told: [DeliveredFile] = []
        for file in receipt.files {
            let name = try #require(FilePath(escaped: file.file.path)).lastComponent
            let path = folder.appending(name)
            let content = try ContentDigest.hexadecimal(of: path, files: lab.files)
            told.append(
                DeliveredFile(file: file.file, bytes: content.bytes, digest: content.digest))
        }
        change(files: told)
    }

    /// The receipt with other fields.
    mutating func change(
        run: String? = nil, store: Int? = nil, files: [DeliveredFile]? = nil, rows: Int64? = nil,
        sums: [String: ContentSum]? = nil, counts: [String: Int64]? = nil
    ) {
        receipt = Receipt(
            run: run ?? receipt.run, store: store ?? receipt.store, work: receipt.work,
            attempt: receipt.attempt, epoch: receipt.epoch, files: files ?? receipt.files,
            rows: rows ?? receipt.rows, sums: sums ?? receipt.sums,
            counts: counts ?? receipt.counts)
    }

    /// The file of the receipt at a place, with other fields.
    mutating func changeFile(
        _ place: Int, root: String? = nil, path: String? = nil, bytes: Int64? = nil,
        digest: String? = nil
    ) {
        var files = receipt.files
        let old = files[place]
        files[place] = DeliveredFile(
            file: FileReference(root: root ?? old.file.root, path: path ?? old.file.path),
            bytes: bytes ?? old.bytes, digest: digest ?? old.digest)
        change(files: files)
    }
}
