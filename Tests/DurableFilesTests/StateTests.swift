import DurableFiles
import Foundation
import Glibc
import TestSupport
import Testing

@Suite struct OwnerLockTests {
    @Test func secondTakerLearnsTheHolder() throws {
        try withFolder { folder in
            let path = folder.appending("lock")
            #expect(try OwnerLock.currentHolder(of: path) == nil)
            let first = try OwnerLock(path, holder: LockHolder(text: "pid 1 on here\n(x)"))
            #expect(throws: DurableFileError.lockHeld(path, holder: "pid 1 on here\\x0a(x)")) {
                try OwnerLock(path, holder: LockHolder(text: "second"))
            }
            #expect(try OwnerLock.currentHolder(of: path) == "pid 1 on here\\x0a(x)")
            // Reading and closing the file elsewhere must not drop the lock.
            #expect(try DurableFileSystem().read(path).count == 17)
            #expect(throws: DurableFileError.self) {
                try OwnerLock(path, holder: LockHolder(text: "second"))
            }
            try first.release()
            try first.release()
            #expect(try OwnerLock.currentHolder(of: path) == nil)
            let second = try OwnerLock(path, holder: LockHolder(text: "second"))
            #expect(try OwnerLock.currentHolder(of: path) == "second")
            try second.release()
        }
    }

    @Test func lettingGoReleases() throws {
        try withFolder { folder in
            let path = folder.appending("lock")
            do {
                let lock = try OwnerLock(path, holder: .thisProcess(doing: "test"))
                #expect(lock.path == path)
                let holder = try #require(try OwnerLock.currentHolder(of: path))
                #expect(holder.hasPrefix("pid \(getpid()) on "))
                #expect(holder.hasSuffix(" (test)"))
            }
            #expect(try OwnerLock.currentHolder(of: path) == nil)
        }
    }

    /// A child has a copy of every descriptor until it becomes another program.
    @Test func aCopyOfTheDescriptorKeepsNoLock() throws {
        try withFolder { folder in
            let path = folder.appending("lock")
            var copies: [Int32] = []
            defer { for copy in copies { close(copy) } }
            do {
                let lock = try OwnerLock(path, holder: LockHolder(text: "first"))
                for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
                    let link = "/proc/self/fd/\(name)"
                    // Other threads close theirs meanwhile.
                    guard let number = Int32(name),
                        realpath(of: link) == realpath(of: lock.path.description)
                    else { continue }
                    copies.append(dup(number))
                }
            }
            #expect(!copies.isEmpty)
            #expect(try OwnerLock.currentHolder(of: path) == nil)
            try OwnerLock(path, holder: LockHolder(text: "second")).release()
        }
    }

    private func realpath(of path: String) -> String? {
        guard let found = Glibc.realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    @Test func onlyRegularFilesAreLocked() throws {
        try withFolder { folder in
            let pipe = folder.appending("pipe")
            expectSuccess(pipe) { mkfifo($0, 0o600) }
            #expect(throws: DurableFileError.notRegularFile(pipe, kind: "a pipe")) {
                try OwnerLock(pipe, holder: LockHolder(text: ""))
            }
            #expect(throws: DurableFileError.notRegularFile(pipe, kind: "a pipe")) {
                _ = try DurableFileSystem().openForReading(pipe)
            }
            link(folder.appending("link"), to: "other")
            let error = #expect(throws: DurableFileError.self) {
                try OwnerLock(folder.appending("link"), holder: LockHolder(text: ""))
            }
            #expect(error?.number == ELOOP)
        }
    }
}

@Suite struct StoreFingerprintTests {
    private func store(_ folder: FilePath) throws -> FilePath {
        let path = folder.appending("store.sqlite")
        try DurableFileSystem().write(noise(8192, seed: 1), to: path)
        return path
    }

    @Test func unchangedFilesAreEqual() throws {
        try withFolder { folder in
            let path = try store(folder)
            let first = try StoreFingerprint(of: path)
            #expect(first == (try StoreFingerprint(of: path)))
            #expect(first.header == Array(noise(8192, seed: 1).prefix(100)))
            #expect(first.writeAheadLog == nil && first.writeAheadLogHeader.isEmpty)
            #expect(!first.hasWriteAheadLogContent)
            let data = try JSONEncoder().encode(first)
            #expect(try JSONDecoder().decode(StoreFingerprint.self, from: data) == first)
        }
    }

    @Test func eachChangeIsNamed() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            let path = try store(folder)
            let before = try StoreFingerprint(of: path)
            #expect(before.differences(from: before).isEmpty)

            try files.hardLink(from: path, to: folder.appending("backup"))
            let linked = try StoreFingerprint(of: path).differences(from: before)
            #expect(linked.isSubset(of: [.changed]))

            try files.write(noise(32, seed: 2), to: path.adding(suffix: "-wal"))
            let logged = try StoreFingerprint(of: path)
            #expect(logged.differences(from: before).contains(.presence))
            #expect(logged.differences(from: before).contains(.writeAheadLogHeader))
            #expect(logged.writeAheadLogHeader == noise(32, seed: 2))
            #expect(!logged.hasWriteAheadLogContent)
            let log = try files.openForWriting(path.adding(suffix: "-wal"))
            try [UInt8](repeating: 0, count: 24).withUnsafeBytes { try log.write($0, at: 32) }
            try log.close()
            #expect(try StoreFingerprint(of: path).hasWriteAheadLogContent)

            let file = try files.openForWriting(path)
            try [1, 2, 3, 4].withUnsafeBytes { try file.write($0, at: 24) }
            try file.setSize(9000)
            try file.close()
            let written = try StoreFingerprint(of: path).differences(from: logged)
            #expect(written.isSuperset(of: [.header, .size]))

            try files.publish(files.read(path), to: path)
            #expect(try StoreFingerprint(of: path).differences(from: logged).contains(.place))
        }
    }

    @Test func emptyAndMissingFiles() throws {
        try withFolder { folder in
            let path = folder.appending("empty")
            let missing = #expect(throws: DurableFileError.self) { try StoreFingerprint(of: path) }
            #expect(missing?.isMissing == true)
            try DurableFileSystem().write([], to: path)
            #expect(try StoreFingerprint(of: path).header.isEmpty)
        }
    }

    /// A store by Apple's tools: the header is SQLite's, and nothing but reading happens.
    @Test(.enabled(if: Fixtures.available, Fixtures.absence))
    func realStoresAreRead() throws {
        let stores = try Fixtures.files { $0.pathExtension == "sqlite" }
        let first = try FilePath(#require(stores.first))
        let path = try #require(first)
        let print = try StoreFingerprint(of: path)
        #expect(String(decoding: print.header.prefix(15), as: UTF8.self) == "SQLite format 3")
        #expect(print == (try StoreFingerprint(of: path)))
    }
}

@Suite struct FileSystemSpaceTests {
    @Test func roomIsRead() throws {
        try withFolder { folder in
            let space = try FileSystemSpace(at: folder)
            #expect(space.totalBytes > 0 && space.freeBytes > 0)
            #expect(space.freeBytes <= space.totalBytes)
            let status = try FileStatus(of: folder)
            #expect(space.device == status.identity.device)
            #expect(space.isNetworkFileSystem == (space.networkFileSystemName != nil))
            let error = #expect(throws: DurableFileError.self) {
                try FileSystemSpace(at: folder.appending("none"))
            }
            #expect(error?.isMissing == true)
        }
    }

    @Test func procIsLocalAndHasNoRoom() throws {
        let space = try FileSystemSpace(at: "/proc")
        #expect(space.magic == 0x9FA0)
        #expect(!space.isNetworkFileSystem)
        #expect(space.freeBytes == 0)
    }
}

@Suite struct DurableFileErrorTests {
    @Test func messagesSayWhatWhereAndWhatNext() {
        let full = DurableFileError.system(.write, "/data/a\nb", number: ENOSPC)
        #expect(
            "\(full)" == "cannot write /data/a\\x0ab: ENOSPC (No space left on device); "
                + "free space or inodes on its file system, then try again")
        #expect(full.isOutOfSpace && full.path == "/data/a\nb")
        #expect(DurableFileError.name(of: 9999) == "errno 9999")
        for number in Int32(1)...133 {
            let error = DurableFileError.system(.open, "f", number: number)
            #expect(error.description.hasSuffix("; \(error.hint)") && !error.hint.isEmpty)
        }
        let held = DurableFileError.lockHeld("l", holder: "pid 3")
        #expect("\(held)".hasPrefix("l is locked by pid 3; "))
        #expect(!held.isOutOfSpace && held.number == nil)
    }

    @Test func everyOperationHasWordsOfItsOwn() {
        let words = FileOperation.allCases.map(\.words)
        #expect(Set(words).count == words.count)
    }
}

@Suite struct FileIdentityTests {
    /// File systems give the number of a file that is gone to the next one that is made.
    @Test func aNumberThatIsUsedAgainIsAnotherFile() throws {
        try withFolder { folder in
            let path = folder.appending("file")
            try DurableFileSystem().write([1], to: path)
            let identity = try FileStatus(of: path).identity
            let birth = try #require(identity.birth, "this file system does not tell births")
            let later = try changed(identity) { fields in
                fields["birth"] = ["seconds": birth.seconds, "nanoseconds": 1 ^ birth.nanoseconds]
                fields["size"] = 2
            }
            #expect(later.inode == identity.inode)
            #expect(!later.isFile(identity))
            #expect(!later.isSame(identity))
        }
    }

    /// An overlay copies a file of a lower layer when it is first opened for writing.
    @Test func aFileThatIsCopiedUpStaysItself() throws {
        try withFolder { folder in
            let path = folder.appending("file")
            try DurableFileSystem().write([1], to: path)
            let identity = try FileStatus(of: path).identity
            let copied = try changed(identity) { $0["birth"] = ["seconds": 5, "nanoseconds": 0] }
            #expect(identity.isFile(copied))
        }
    }

    /// A file system may have another device number after a restart.
    @Test func aFileStaysItselfOnAnotherDevice() throws {
        try withFolder { folder in
            let path = folder.appending("file")
            try DurableFileSystem().write([1], to: path)
            let identity = try FileStatus(of: path).identity
            let later = try changed(identity) { $0["device"] = identity.device + 1 }
            #expect(!identity.isFile(later))
            #expect(identity.isStill(later) && identity.isSame(later))
            let other = try changed(later) { $0["birth"] = ["seconds": 5, "nanoseconds": 0] }
            #expect(!identity.isStill(other))
            let unknown = try changed(later) { $0["birth"] = nil }
            #expect(!identity.isStill(unknown))
        }
    }

    @Test func aFileStaysItself() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            let path = folder.appending("file")
            try files.write([1], to: path)
            let first = try FileStatus(of: path).identity
            let open = try files.openForWriting(path)
            try open.write([2, 3])
            try open.close()
            try files.hardLink(from: path, to: folder.appending("second"))
            let second = try FileStatus(of: folder.appending("second")).identity
            #expect(first.isFile(second))
            #expect(!first.isSame(second))
        }
    }

    /// Records of earlier versions have no birth.
    @Test func anUnknownBirthIsNotCompared() throws {
        try withFolder { folder in
            let path = folder.appending("file")
            try DurableFileSystem().write([1], to: path)
            let identity = try FileStatus(of: path).identity
            let older = try changed(identity) { $0["birth"] = nil }
            #expect(older.birth == nil)
            #expect(older.isSame(identity))
            #expect(identity.isSame(older))
        }
    }

    /// The identity with other fields in its record.
    private func changed(
        _ identity: FileIdentity, _ change: (inout [String: Any]) -> Void
    ) throws -> FileIdentity {
        let record = try JSONSerialization.jsonObject(with: JSONEncoder().encode(identity))
        var fields = try #require(record as? [String: Any])
        change(&fields)
        return try JSONDecoder().decode(
            FileIdentity.self, from: JSONSerialization.data(withJSONObject: fields))
    }
}
