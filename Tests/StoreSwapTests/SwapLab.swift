import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import SafeSQLite
import StoreLocks
import Synchronization
import TestSupport
import Testing

@testable import StoreSwap

/// What lies beside a store before its swap.
enum StoreShape: String, CaseIterable, CustomTestStringConvertible {
    case fullLog, emptyLog, headerLog, none, hotJournal, keptJournal, externalData, symbolicLink
    /// A log and external data, through a link, on a file system without hard links.
    case withoutLinks

    var testDescription: String { rawValue }
    var hasLog: Bool { self == .fullLog || self == .withoutLinks }
    var hasExternalData: Bool {
        [.externalData, .symbolicLink, .withoutLinks].contains(self)
    }
    var isLinked: Bool { self == .symbolicLink || self == .withoutLinks }
}

/// A folder with a store of a shape, a result that is to take its place, and a client's eyes.
struct SwapLab {
    let folder: FilePath
    let shape: StoreShape
    /// As the user names it: perhaps a symbolic link.
    let named: FilePath
    /// The main file itself.
    let store: FilePath
    let newFile: FilePath
    let snapshot: FilePath
    let expected: StoreFingerprint
    let original: [FilePath: [UInt8]]
    let identity: FileIdentity
    let files = DurableFileSystem()

    static let addition = FilePath("AAAAAAAA-0000-4000-8000-000000000002")
    static let kept = FilePath("AAAAAAAA-0000-4000-8000-000000000001")

    /// Copies what `makeOriginal` made, so that many labs cost little.
    init(_ template: SwapTemplate, in folder: FilePath, name: FilePath = "store.sqlite") throws {
        self.folder = folder
        shape = template.shape
        let place = folder.appending("data")
        try files.makeFolder(place)
        store = place.appending(name)
        for kind in [""] + StoreCompanion.allCases.map(\.rawValue) {
            let source = template.store.adding(suffix: kind)
            guard try FileStatus.ifPresent(source) != nil else { continue }
            try SwapLab.copy(source, to: store.adding(suffix: kind))
        }
        if shape.hasExternalData {
            let external = StoreLocation(store).externalData
            try files.makeFolders(external)
            try SwapLab.write("kept", to: external.appending(SwapLab.kept))
        }
        named = shape.isLinked ? folder.appending("link.sqlite") : store
        if shape.isLinked, let link = named.string, let target = store.string {
            try FileManager.default.createSymbolicLink(
                atPath: link, withDestinationPath: target)
        }
        newFile = place.appending(".godwit-unpublished-new")
        try SwapLab.copy(template.result, to: newFile)
        snapshot = place.appending(".godwit-unpublished-snapshot")
        if let companion = template.companion {
            try SettledCopy.make(
                of: store, with: companion, at: snapshot, named: store, files: files)
        }
        expected = try StoreFingerprint(of: store)
        original = try SwapLab.contents(of: place).filter {
            !$0.key.lastComponent.bytes.starts(with: ".godwit".utf8)
                && !$0.key.bytes.reversed().starts(with: "-shm".utf8.reversed())
        }
        identity = try FileStatus(of: store).identity
    }

    /// A file system as the shape has it, and perhaps a process that dies.
    func files(dying process: DyingProcess? = nil) -> DurableFileSystem {
        let hasLinks = shape != .withoutLinks
        return DurableFileSystem(
            faults: FaultPoints { point in
                if let fault = process?.answer(point) { return fault }
                guard !hasLinks, point.operation == .link, point.moment == .before else {
                    return nil
                }
                return .error(EPERM)
            })
    }

    func request() throws -> SwapRequest {
        var additions: [FilePath] = []
        if shape.hasExternalData {
            let addition = folder.appending("data").appending(SwapLab.addition)
            if try FileStatus.ifPresent(addition) == nil {
                try SwapLab.write("added", to: addition)
            }
            additions = [addition]
        }
        let hasSnapshot = try FileStatus.ifPresent(snapshot) != nil
        return SwapRequest(
            store: StoreLocation(store), run: "r1", expected: expected, newFile: newFile,
            snapshot: hasSnapshot ? snapshot : nil, additions: additions)
    }

    func plan() throws -> SwapPlan {
        try SwapPlan(SwapFacts(reading: request(), files: files))
    }

    /// A swap without disturbance.
    func swap() throws -> SwapPlan {
        let plan = try plan()
        let lock = try StoreLock(store)
        var copies: [BackupRecord.Entry] = []
        _ = try Swapper(files: files()).run(plan, under: lock, recording: { copies += $0 })
        lock.release()
        return plan.recording(copies)
    }

    /// All rows that a client sees, external data read in, in one text; the store is copied
    /// first, so that looking changes nothing.
    func clientView() throws -> String {
        let path = try files.with(.followed).resolve(named)
        let copy = folder.appending("client")
        try files.removeTree(copy)
        try files.makeFolder(copy)
        let database = copy.appending("store.sqlite")
        for kind in [""] + StoreCompanion.allCases.map(\.rawValue) {
            let source = path.adding(suffix: kind)
            guard try FileStatus.ifPresent(source) != nil else { continue }
            try SwapLab.copy(source, to: database.adding(suffix: kind))
        }
        let connection = try Connection(path: database, mode: .readWrite)
        var rows = try connection.texts("SELECT k || '=' || v FROM t ORDER BY k")
        rows += try connection.texts("SELECT 'generation ' || name FROM generation")
        for name in try connection.texts("SELECT name FROM reference ORDER BY name") {
            let file = StoreLocation(path).externalData.appending(name)
            let data =
                try FileStatus.ifPresent(file) == nil
                ? Array("missing".utf8) : files.contents(of: file, limit: 1 << 20)
            rows.append(name + ":" + String(decoding: data, as: UTF8.self))
        }
        guard try connection.texts("PRAGMA integrity_check") == ["ok"] else { return "damaged" }
        try connection.close()
        return rows.joined(separator: "\n")
    }

    /// The bytes of all files below a folder.
    static func contents(of folder: FilePath) throws -> [FilePath: [UInt8]] {
        let files = DurableFileSystem()
        var contents: [FilePath: [UInt8]] = [:]
        for found in try files.tree(at: folder) where found.status.isRegularFile {
            contents[found.path] = try files.contents(of: found.path, limit: 64 << 20)
        }
        return contents
    }

    static func copy(_ source: FilePath, to target: FilePath) throws {
        let files = DurableFileSystem()
        let bytes = try files.contents(of: source, limit: 64 << 20)
        let file = try files.create(target)
        try file.write(bytes)
        try file.close()
    }

    static func write(_ text: String, to path: FilePath) throws {
        let file = try DurableFileSystem().create(path)
        try file.write(Array(text.utf8))
        try file.close()
    }
}

/// A store of a shape and its result, from which labs are copied.
struct SwapTemplate {
    let shape: StoreShape
    let store: FilePath
    let result: FilePath
    /// The companion that has content.
    let companion: StoreCompanion?

    init(_ shape: StoreShape, in folder: FilePath) throws {
        self.shape = shape
        store = folder.appending("template.sqlite")
        result = folder.appending("result.sqlite")
        companion =
            shape.hasLog ? .writeAheadLog : (shape == .hotJournal ? .rollbackJournal : nil)
        let usesJournal = shape == .hotJournal || shape == .keptJournal
        let made = folder.appending("made.sqlite")
        let connection = try Connection(path: made, mode: .create)
        try SwapTemplate.fill(
            connection, "old", references: shape.hasExternalData ? [SwapLab.kept] : [])
        try connection.close()
        let writer = try Connection(path: made, mode: .readWrite, cacheKibibytes: 16)
        try writer.execute("PRAGMA journal_mode = \(usesJournal ? "DELETE" : "WAL")")
        switch shape {
        case .fullLog, .withoutLinks:
            // What the main file alone says is older and must never be seen.
            try writer.execute("PRAGMA wal_autocheckpoint = 0")
            try writer.execute("UPDATE t SET v = 'logged' || v WHERE k % 3 = 0")
            try writer.execute("INSERT INTO generation VALUES ('logged')")
        case .hotJournal:
            // Pages that do not fit the cache go to the file before the end.
            try writer.execute("PRAGMA cache_size = 4; BEGIN")
            try writer.execute("UPDATE t SET v = 'unfinished' || v")
        case .keptJournal:
            try writer.execute("PRAGMA journal_mode = PERSIST")
            try writer.execute("UPDATE t SET v = 'older' || v WHERE k = 1")
        case .emptyLog, .headerLog, .none, .externalData, .symbolicLink: break
        }
        for kind in [""] + StoreCompanion.allCases.map(\.rawValue) {
            let source = made.adding(suffix: kind)
            let isWanted = companion != nil || kind.isEmpty || shape == .keptJournal
            guard isWanted, try FileStatus.ifPresent(source) != nil else { continue }
            try SwapLab.copy(source, to: store.adding(suffix: kind))
        }
        if shape == .hotJournal { try writer.execute("ROLLBACK") }
        try writer.close()
        let log = store.adding(suffix: "-wal")
        if shape == .emptyLog { try SwapLab.write("", to: log) }
        if shape == .headerLog {
            let file = try DurableFileSystem().create(log)
            try file.write(SwapTemplate.logHeader)
            try file.close()
        }
        let output = try Connection(path: result, mode: .create)
        try SwapTemplate.fill(
            output, "new",
            references: shape.hasExternalData ? [SwapLab.kept, SwapLab.addition] : [])
        try output.close()
    }

    /// A log's header with the right checksum and no frames behind it (SQLite file format, 4.1).
    private static let logHeader: [UInt8] = {
        let words: [UInt32] = [0x377F_0682, 3_007_000, 4096, 0, 0x1234_5678, 0x9ABC_DEF0]
        var (first, second): (UInt32, UInt32) = (0, 0)
        for pair in stride(from: 0, to: 6, by: 2) {
            first = first &+ words[pair].byteSwapped &+ second
            second = second &+ words[pair + 1].byteSwapped &+ first
        }
        return (words + [first, second]).flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) }
        }
    }()

    private static func fill(
        _ connection: Connection, _ generation: String, references: [FilePath]
    ) throws {
        try connection.execute(
            "CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT);"
                + "CREATE TABLE generation (name TEXT); CREATE TABLE reference (name TEXT);"
                + "CREATE INDEX i ON t (v)")
        try connection.execute("INSERT INTO generation VALUES ('\(generation)')")
        for name in references {
            try connection.execute("INSERT INTO reference VALUES ('\(name)')")
        }
        try connection.execute(
            "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 300) "
                + "INSERT INTO t SELECT k, '\(generation)' || k || hex(zeroblob(100)) FROM n")
    }
}

/// A process that does so many durable actions and then no more: every later one fails, as if
/// it had been killed between two system calls.
final class DyingProcess: Sendable {
    private let left: Mutex<Int>
    private let number: Int32
    private let isTransient: Bool

    /// - Parameters:
    ///   - actions: announcements that pass; each action has two.
    ///   - number: what the next one fails with.
    ///   - isTransient: whether those after it pass again.
    init(after actions: Int, of number: Int32 = EIO, isTransient: Bool = false) {
        left = Mutex(actions)
        self.number = number
        self.isTransient = isTransient
    }

    var isDead: Bool { left.withLock { $0 < 0 } }

    func answer(_ point: FaultPoint) -> InjectedFault? {
        left.withLock { left in
            if left < 0, isTransient { return nil }
            if left <= 0 {
                left = -1
                return .error(number)
            }
            left -= 1
            return nil
        }
    }
}

/// Runs a body with a fresh folder as a path and removes the folder afterwards.
///
/// The folder lies in memory where the system has a place for that: stopping after every call
/// takes tens of thousands of syncs.
func withFolder<Result>(_ body: (FilePath) throws -> Result) throws -> Result {
    let memory = FilePath("/dev/shm")
    guard try FileStatus.ifPresent(memory)?.isFolder == true,
        FileManager.default.isWritableFile(atPath: memory.description)
    else {
        return try withTemporaryFolder { url in try body(try #require(FilePath(url))) }
    }
    let folder = memory.appending("godwit-test-\(UUID().uuidString)")
    let files = DurableFileSystem()
    try files.makeFolder(folder)
    let result = Swift.Result { try body(folder) }
    try files.removeTree(folder)
    return try result.get()
}

/// Runs a body with a store of a shape in a folder of its own, and a folder beside that one.
func withSwapLab(
    _ shape: StoreShape, name: FilePath = "store.sqlite",
    _ body: (_ lab: SwapLab, _ beside: FilePath) throws -> Void
) throws {
    try withFolder { folder in
        let template = try SwapTemplate(shape, in: folder)
        let place = folder.appending("lab")
        try DurableFileSystem().makeFolder(place)
        try body(SwapLab(template, in: place, name: name), folder)
    }
}
