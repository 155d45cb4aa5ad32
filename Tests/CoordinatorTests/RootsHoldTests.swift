import ClusterProtocol
import CoreDataStore
import DurableFiles
import Foundation
import Glibc
import Jobs
import MigrationEngine
import RunLedger
import SafeSQLite
import StateFolders
import StoreDiscovery
import Synchronization
import TestSupport
import Testing
import Threads

@testable import Coordinator
@testable import RunService
@testable import StoreRuns

/// Nothing outside of a root is read, made, changed or removed, whatever a client asks for.
@Suite struct RootsHoldTests {
    /// What a message asks for, by the bytes that go over the wire.
    struct Wish: Sendable, CustomTestStringConvertible {
        let path: String
        var output: String?
        var root = "data"
        var outputRoot = "data"

        var testDescription: String { "\(root):\(path.prefix(60)) -> \(output ?? "in place")" }
    }

    private static let long = String(repeating: "n", count: 300)

    static let wishes: [Wish] =
        [
            "\\x2e\\x2e/outside", "..", "../outside", "/outside", "a/../../outside",
            "\\x2e./outside/secret.sqlite", "a/\\x2e\\x2e/\\x2e\\x2e/outside", "a\\x00b", "a\u{0}b",
            "\\x2foutside", "a//b", "./a.sqlite", "folder", "folder/secret.sqlite",
            "deep/folder/secret.sqlite", "file.sqlite", "folder/*.sqlite", "folder/**",
            "\\x2e\\x2e/outside/*.sqlite", "*/\\x2e\\x2e/outside/*", "folder/new/x.sqlite", "a\\q",
            long, "\(long)/x", "dangling", "loop/x",
        ].map { Wish(path: $0) }
        + [
            "\\x2e\\x2e/outside", "../outside", "folder", "folder/new", "/outside", "a\\x00b",
            "deep/folder/x/y", "dangling",
        ].map { Wish(path: "a.sqlite", output: $0) }
        + [
            Wish(path: "outside", root: "elsewhere"), Wish(path: "a.sqlite", root: ".."),
            Wish(path: "a.sqlite", output: "out", outputRoot: "elsewhere"),
        ]

    /// Stores in a root, and beside it what no peer may touch.
    private func lay(_ sharing: SharingLab) throws -> (outside: FilePath, before: [String: String])
    {
        let outside = sharing.folder.appending("outside")
        try sharing.files.makeFolders(outside.appending("new"))
        try sharing.files.makeFolders(sharing.path("deep"))
        try sharing.forge("a.sqlite")
        try sharing.forge("../outside/secret.sqlite", seed: 5)
        for (name, target) in [
            ("folder", "../outside"), ("deep/folder", "../../outside"),
            ("file.sqlite", "../outside/secret.sqlite"), ("dangling", "../outside/none"),
            ("loop", "loop"),
        ] {
            #expect(symlink(target, sharing.path(name).description) == 0)
        }
        return (outside, try canary(outside, sharing))
    }

    /// Every name below a folder with its content.
    private func canary(_ folder: FilePath, _ lab: SharingLab) throws -> [String: String] {
        var found: [String: String] = [:]
        for file in try lab.files.tree(at: folder) {
            found[file.path.description] =
                file.status.isRegularFile
                ? try ContentDigest.hexadecimal(of: file.path, files: lab.files).digest
                : "folder \(file.status.identity.modified)"
        }
        return found
    }

    /// The message as a client of ours would send it for a path of the same length, with the bytes
    /// exchanged that ours would not send.
    private func message(_ wish: Wish, _ request: RunRequest) throws -> [UInt8] {
        func stand(_ text: String, _ letter: String) -> String {
            String(repeating: letter, count: text.utf8.count)
        }
        let output = wish.output.map { FileReference(root: wish.outputRoot, path: $0) }
        let frame = try MessageCodec().encode(
            ClientRequest.submit(
                SubmitRequest(
                    request: SubmittedRequest(request, output: output).text(),
                    paths: [
                        FileReference(
                            root: stand(wish.root, "R"), path: stand(wish.path, "P"))
                    ])))
        var bytes = frame
        for (stand, real) in [
            (stand(wish.path, "P"), wish.path), (stand(wish.root, "R"), wish.root),
        ] {
            // The request comes first and may hold the same letters.
            let place = try #require(bytes.ranges(of: Array(stand.utf8)).last)
            bytes.replaceSubrange(place, with: Array(real.utf8))
        }
        return bytes
    }

    @Test(arguments: wishes)
    func whatARawMessageAsksForStaysInItsRoot(wish: Wish) throws {
        try CoordinatorLab.run(root: "data") { lab in
            let sharing = lab.sharing
            let (outside, before) = try lay(sharing)
            let client = try lab.peer("client")
            let request = try sharing.request([sharing.data])
            try client.send(message(wish, request))
            let refusal = try client.refusal()
            #expect([.badRequest, .badMessage].contains(refusal.code), "\(refusal)")
            #expect(try sharing.ledger.runs().allSatisfy { !$0.state.isUnfinished })
            #expect(try canary(outside, sharing) == before)
            #expect(!refusal.text.contains("a bug in Godwit"))
            // Nothing of it is told.
            #expect(!refusal.text.contains("Z_METADATA") && !refusal.text.contains("notes"))
        }
    }

    /// The decoded form behind the socket: a folder is walked, and links out of it are left out.
    @Test func aWalkDoesNotLeaveItsRoot() throws {
        try SharingLab.run(root: "data") { sharing in
            let (outside, before) = try lay(sharing)
            let roots = sharing.dependencies.roots
            for path in ["", "*", "**/*.sqlite", "deep", "**"] {
                let place: FilePath
                do {
                    place = try roots.place(of: FileReference(root: "data", path: path))
                } catch {
                    Issue.record("\(path): \(error)")
                    continue
                }
                let named = StoreSelection(paths: [place])
                let found: [FoundStore]
                do {
                    found = try ClusterRuns(sharing.dependencies).discover(named, output: nil)
                        .stores
                } catch {
                    #expect(path == "deep")
                    continue
                }
                #expect(found.map { $0.path.lastComponent } == ["a.sqlite"], "\(path)")
            }
            #expect(try canary(outside, sharing) == before)
        }
    }

    /// Also what was recorded before is checked at its use.
    @Test func everyUseIsChecked() throws {
        try SharingLab.run(root: "data") { sharing in
            let (outside, before) = try lay(sharing)
            let run = try sharing.begin([sharing.path("a.sqlite")])
            for (store, output) in [
                ("folder/secret.sqlite", nil), ("file.sqlite", nil),
                ("a.sqlite", "folder/a.sqlite"), ("a.sqlite", "folder/new/deep/a.sqlite"),
                ("a.sqlite", "dangling/a.sqlite"),
            ] as [(String, String?)] {
                let found = FoundStore(
                    number: 1, location: StoreLocation(sharing.path(store)),
                    output: output.map { StoreLocation(sharing.path($0)) },
                    bytes: 1)
                #expect(throws: RunError.self) { _ = try run.whole(found) }
                #expect(throws: RunError.self) { _ = try run.locations(of: found) }
                let deliveries = ResultIntake(of: run, checked: ResultIntake.CheckedFiles())
                #expect(throws: RunError.self) { try deliveries.removeAll(of: found) }
            }
            #expect(try canary(outside, sharing) == before)
        }
    }

    /// A user who may write in the root exchanges a folder for a link all the time.
    ///
    /// In a process of its own, because SQLite is confined there from then on.
    @Test func aFlippingLinkLeadsNowhere() async {
        await #expect(processExitsWith: .success) { try RootsHoldTests().flip() }
    }

    private func flip() throws {
        try SharingLab.run(root: "data") { sharing in
            SQLiteConfinement.begin()
            let (outside, before) = try lay(sharing)
            try sharing.files.makeFolders(sharing.path("flip"))
            try sharing.forge("flip/secret.sqlite", notes: 20, seed: 9)
            try sharing.forge("flip/inside.sqlite", notes: 20, seed: 8)
            let own = try uuid(of: sharing.path("flip/secret.sqlite"), sharing)
            #expect(own != (try uuid(of: outside.appending("secret.sqlite"), sharing)))
            let flipper = try Flipper(sharing.path("flip"), target: outside)
            var (opened, refused) = (0, 0)
            for round in 0..<400 {
                do {
                    let place = try sharing.dependencies.roots.place(
                        of: FileReference(root: "data", path: "flip/secret.sqlite"))
                    let found = FoundStore(
                        number: 1, location: StoreLocation(place), output: nil, bytes: 1)
                    try sharing.dependencies.roots.check(found)
                    let real = try sharing.dependencies.roots.confined(place)
                    #expect(try uuid(of: real, sharing) == own, "round \(round)")
                    opened += 1
                } catch {
                    refused += 1
                }
                do {
                    let named = StoreSelection(paths: [sharing.path("flip")])
                    let names = try ClusterRuns(sharing.dependencies).discover(named, output: nil)
                        .stores
                        .map { $0.path.lastComponent }
                    #expect(Set(names).isSubset(of: ["secret.sqlite", "inside.sqlite"]))
                } catch {
                    refused += 1
                }
            }
            flipper.end()
            #expect(opened > 0 && refused > 0, "\(opened) opened, \(refused) refused")
            #expect(try canary(outside, sharing) == before)
        }
    }

    /// The identifier of the store that really is read.
    private func uuid(of path: FilePath, _ sharing: SharingLab) throws -> String {
        let files = DurableFileSystem(links: .refused)
        let scratch = sharing.folder.appending("scratch")
        try files.makeFolders(scratch)
        let store = try StoreOpener(files: files).open(
            StoreLocation(path), scratch: scratch, snapshot: .toMake(scratch.appending("s")))
        if store.isSnapshot { try files.remove(scratch.appending("s")) }
        return store.metadata.uuid
    }
}

/// Exchanges a folder for a link to another one, again and again.
private final class Flipper: Sendable {
    private let isEnding = Atomic(false)
    private let thread = Mutex<OwnedThread?>(nil)

    init(_ folder: FilePath, target: FilePath) throws {
        let real = folder.adding(suffix: "-real").description
        let link = folder.adding(suffix: "-link").description
        let name = folder.description
        #expect(symlink(target.description, link) == 0)
        let made = try OwnedThread(name: "flipper") { [self] in
            while !isEnding.load(ordering: .relaxed) {
                rename(name, real)
                rename(link, name)
                rename(name, link)
                rename(real, name)
            }
        }
        thread.withLock { $0 = made }
    }

    func end() {
        isEnding.store(true, ordering: .relaxed)
        thread.withLock { $0 }?.join()
    }
}
