import DurableFiles
import Foundation
import Glibc
import RunReports
import Synchronization
import TestSupport
import Testing
import ZeroMQ

@testable import CommandSupport
@testable import GodwitCommands

/// Folders of keys, as they are made and read.
@Suite struct KeyFolderTests {
    private func withCluster(
        workers: [String] = ["worker-1", "worker-2"], clients: [String] = ["client-1"],
        _ body: (FilePath, KeyFolder) throws -> Void
    ) throws {
        try withTemporaryFolder { url in
            let folder = try #require(FilePath(url)).appending("keys")
            _ = try KeyGenerator(folder).makeCluster(workers: workers, clients: clients)
            try body(folder, KeyFolder(folder))
        }
    }

    private func refused(
        _ words: String..., status: CommandStatus = .usage,
        at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        let failure = #expect(
            throws: CommandFailure.self, sourceLocation: location, performing: body)
        #expect(failure?.status == status, sourceLocation: location)
        for word in words {
            let text = failure?.description ?? ""
            #expect(text.contains(word), "\(text)", sourceLocation: location)
        }
    }

    private func change(_ path: FilePath, _ mode: mode_t) {
        #expect(chmod(path.description, mode) == 0)
    }

    private func write(_ text: String, _ path: FilePath) throws {
        try DurableFileSystem().publish(Array(text.utf8), to: path)
    }

    @Test func eachCommandFindsItsPart() throws {
        try withCluster { folder, keys in
            let own = try keys.coordinator()
            let list = try own.allowList()
            #expect(
                list.peers.map(\.user) == [
                    "worker/worker-1", "worker/worker-2", "client/client-1",
                ])
            let worker = try keys.worker()
            #expect(worker.name == "worker-1")
            #expect(worker.coordinator == own.keys.publicKey)
            #expect(list.peer(user: "worker/worker-1")?.key == worker.keys.publicKey)
            let client = try keys.client()
            #expect(client.coordinator == own.keys.publicKey)
            #expect(list.peer(user: "client/client-1")?.key == client.keys.publicKey)
            #expect(list.peer(user: "client/worker-1") == nil)
            #expect(try KeyFolder(folder.appending("coordinator")).coordinator().keys == own.keys)

            let policy = list.accessPolicy
            #expect(policy.plain == .refused)
            #expect(policy.names.count == 3)
            #expect(policy.names[worker.keys.publicKey] == "worker/worker-1")
            let stranger = try KeyPair.generate().publicKey
            let request = AccessRequest(
                domain: "control", address: "127.0.0.1", mechanism: "CURVE", key: stranger)
            #expect(policy.decide(request) == .refused(.unknownKey(stranger)))
        }
    }

    @Test func onlyTheOwnerReadsThem() throws {
        try withCluster { folder, _ in
            for found in try DurableFileSystem().tree(at: folder) {
                let wanted: UInt32 = found.status.isFolder ? 0o700 : 0o600
                #expect(found.status.permissions == wanted, "\(found.path)")
                if found.path.lastComponent.description == KeyFiles.secretName {
                    let pair = try KeyFiles.pair(in: found.path.parent)
                    let publicKey = found.path.parent.appending(KeyFiles.publicName)
                    #expect(try KeyFiles.publicKey(publicKey) == pair.publicKey)
                }
            }
            let names = try DurableFileSystem().names(in: folder).map(\.description)
            #expect(names == [".keys.lock", "clients", "coordinator", "workers"])
        }
    }

    @Test func workersOfOneMachineTakeAKeyEach() throws {
        try withCluster { folder, keys in
            let first = try keys.worker()
            let second = try keys.worker()
            #expect([first.name, second.name] == ["worker-1", "worker-2"])
            #expect(first.keys != second.keys)
            refused("worker-1, worker-2", "pid", "keys new", status: .canBeRepeated) {
                _ = try keys.worker()
            }
            refused("worker-1", status: .canBeRepeated) {
                _ = try keys.worker(named: "worker-1")
            }
            try first.use?.release()
            #expect(try keys.worker(named: "worker-1").keys == first.keys)
            _ = try KeyGenerator(folder).add(workers: ["worker-10", "spare"], clients: [])
            let third = try keys.worker(named: "worker-10")
            #expect(third.name == "worker-10")
            #expect(try keys.coordinator().allowList().peer(user: "worker/spare") != nil)
        }
    }

    @Test func aCarriedPartIsEnough() throws {
        try withCluster { folder, keys in
            let part = folder.parent.appending("worker-2")
            try DurableFileSystem().rename(
                folder.appending("workers/worker-2"), to: part, existing: .refuse)
            let worker = try KeyFolder(part).worker()
            #expect(worker.name == "worker-2")
            let own = try keys.coordinator()
            #expect(worker.coordinator == own.keys.publicKey)
            #expect(
                try own.allowList().peer(user: "worker/worker-2")?.key == worker.keys.publicKey)
            refused("worker-2", "worker-1") { _ = try KeyFolder(part).worker(named: "worker-1") }
            refused("no coordinator") { _ = try KeyFolder(part).coordinator() }
            refused("worker-2") { _ = try keys.worker(named: "worker-2") }
        }
    }

    @Test func nothingIsOverwritten() throws {
        try withCluster { folder, keys in
            let before = try contents(folder)
            let maker = KeyGenerator(folder)
            #expect(try maker.hasCoordinator())
            refused("already contains") { _ = try maker.makeCluster(workers: ["new"], clients: []) }
            refused("worker-1") { _ = try maker.add(workers: ["new", "worker-1"], clients: []) }
            refused("client-1") { _ = try maker.add(workers: ["new"], clients: ["client-1"]) }
            #expect(try contents(folder) == before)
            // The list alone counts, too: the key may have been carried away.
            try DurableFileSystem().removeTree(folder.appending("workers/worker-2"))
            refused("worker-2.pub") { _ = try maker.add(workers: ["worker-2"], clients: []) }
            let other = folder.parent
            refused("already contains keys") {
                _ = try KeyGenerator(other).makeCluster(workers: [], clients: [])
            }
            #expect(try keys.coordinator().allowList().peers.count == 3)
        }
    }

    private func contents(_ folder: FilePath) throws -> [FilePath: [UInt8]] {
        var result: [FilePath: [UInt8]] = [:]
        for found in try DurableFileSystem().tree(at: folder) where found.status.isRegularFile {
            guard found.path.lastComponent.description != ".keys.lock" else { continue }
            result[found.path] = try DurableFileSystem().contents(of: found.path, limit: 1024)
        }
        return result
    }

    @Test func whatAKilledCommandLeftIsNoObstacle() throws {
        try withTemporaryFolder { url in
            let folder = try #require(FilePath(url))
            let left = folder.appending(".godwit-unpublished-keys/workers/worker-1")
            try DurableFileSystem().makeFolders(left)
            try write("old", left.appending(KeyFiles.secretName))
            _ = try KeyGenerator(folder).makeCluster(workers: ["worker-1"], clients: [])
            #expect(try KeyFolder(folder).worker().name == "worker-1")
            #expect(try FileStatus.ifPresent(left) == nil)
        }
    }

    @Test func everyFailureLeavesAFolderThatCanBeTriedAgain() throws {
        let operations = Counter()
        try withTemporaryFolder { url in
            let folder = try #require(FilePath(url)).appending("counted")
            let files = DurableFileSystem(faults: FaultPoints { _ in operations.next(nil) })
            _ = try KeyGenerator(folder, files: files).makeCluster(workers: ["w"], clients: ["c"])
        }
        #expect(operations.count > 20)
        for number in 1...operations.count {
            try withTemporaryFolder { url in
                let folder = try #require(FilePath(url)).appending("keys")
                let counter = Counter(failing: number)
                let files = DurableFileSystem(
                    faults: FaultPoints { _ in counter.next(.error(ENOSPC)) })
                let failure = #expect(throws: CommandFailure.self) {
                    _ = try KeyGenerator(folder, files: files)
                        .makeCluster(workers: ["w"], clients: ["c"])
                }
                #expect(failure?.status == .inputOutput)
                // Either nothing is in its place, or the command says what is.
                let names = try KeyFiles.names(in: folder) ?? []
                if names.isEmpty {
                    _ = try KeyGenerator(folder).makeCluster(workers: ["w"], clients: ["c"])
                    #expect(try KeyFolder(folder).worker().name == "w")
                } else {
                    refused("already contains") {
                        _ = try KeyGenerator(folder).makeCluster(workers: ["w"], clients: ["c"])
                    }
                }
            }
        }
    }

    @Test func aSecretThatOthersMayReadIsNone() throws {
        try withCluster { folder, keys in
            for (part, mode) in [("coordinator", 0o640), ("workers/worker-1", 0o604)] {
                change(folder.appending("\(part)/secret.key"), mode_t(mode))
            }
            refused("coordinator/secret.key", "chmod 600") { _ = try keys.coordinator() }
            refused("worker-1/secret.key", "chmod 600") { _ = try keys.worker() }
            change(folder.appending("coordinator/secret.key"), 0o400)
            _ = try keys.coordinator()
        }
    }

    @Test(arguments: [
        "", "coordinator", "coordinator/allowed", "coordinator/allowed/workers", "workers",
        "workers/worker-1",
    ])
    func foldersThatOthersMayWriteAreRefused(part: String) throws {
        try withCluster { folder, keys in
            let path = part.isEmpty ? folder : folder.appending(part)
            change(path, 0o770)
            refused(path.description, "chmod go-w") {
                _ = try keys.coordinator().allowList()
                _ = try keys.worker()
            }
            // In a sticky folder no user exchanges what is another's.
            change(path, 0o1777)
            _ = try keys.coordinator().allowList()
            _ = try keys.worker()
        }
    }

    @Test func refusesInvalidKey() throws {
        try withCluster { folder, keys in
            let list = folder.appending("coordinator/allowed/workers")
            try write("short\n", list.appending("x.pub"))
            refused("x.pub") { _ = try keys.coordinator().allowList() }
            let long = String(repeating: "a", count: 2000)
            try write(long, list.appending("x.pub"))
            refused("x.pub") { _ = try keys.coordinator().allowList() }
            let known = try keys.worker(named: "worker-1").keys.publicKey.text
            try write(known + "\r\n", list.appending("x.pub"))
            refused("worker/x", "worker-1.pub") { _ = try keys.coordinator().allowList() }
            try write(try KeyPair.generate().publicKey.text, list.appending("x.pub"))
            #expect(try keys.coordinator().allowList().peer(user: "worker/x") != nil)
            try write("note", list.appending("README"))
            refused("README", "NAME.pub") { _ = try keys.coordinator().allowList() }
            try write("short", folder.appending("workers/worker-1/coordinator.pub"))
            refused("coordinator.pub") { _ = try keys.worker(named: "worker-1") }
            try write("", folder.appending("coordinator/secret.key"))
            refused("secret.key") { _ = try keys.coordinator() }
        }
    }

    @Test func aFolderWithoutKeysIsNamed() throws {
        try withTemporaryFolder { url in
            let keys = KeyFolder(try #require(FilePath(url)))
            refused(url.path, "keys new") { _ = try keys.coordinator() }
            refused(url.path, "keys new") { _ = try keys.worker() }
            refused(url.path, "keys new") { _ = try keys.client() }
            let missing = KeyFolder(FilePath("/does/not/exist"))
            refused("/does/not/exist") { _ = try missing.worker() }
        }
        try withCluster(clients: []) { _, keys in
            refused("has no key", "--client NAME") { _ = try keys.client() }
        }
    }

    @Test(arguments: [
        ("a", true), ("rack-3.example_1", true), (String(repeating: "a", count: 64), true),
        ("", false), (".a", false), ("a/b", false), ("..", false), ("a b", false), ("ä", false),
        (String(repeating: "a", count: 65), false), ("a\n", false),
    ])
    func names(text: String, isName: Bool) { #expect(KeyRole.isName(text) == isName) }
}

/// Counts, and lets one of the operations fail.
private final class Counter: Sendable {
    private let state = Mutex(0)
    private let failing: Int

    init(failing: Int = 0) { self.failing = failing }

    var count: Int { state.withLock { $0 } }

    func next(_ fault: InjectedFault?) -> InjectedFault? {
        state.withLock { count in
            count += 1
            return count == failing ? fault : nil
        }
    }
}
