import Synchronization
import Testing
import Threads

@Suite struct OwnedThreadTests {
    @Test func runsNamedAndIsJoined() throws {
        let seen = Mutex("")
        let thread = try OwnedThread(name: "slot 3") {
            seen.withLock { $0 = OwnedThread.currentName }
        }
        thread.join()
        thread.join()
        #expect(seen.withLock { $0 } == "slot 3")
    }

    @Test func longNamesAreCutToFifteenBytes() throws {
        let seen = Mutex("")
        let thread = try OwnedThread(name: "a name beyond fifteen") {
            seen.withLock { $0 = OwnedThread.currentName }
        }
        thread.join()
        #expect(seen.withLock { $0 } == "a name beyond f")
    }

    @Test func theStackIsAsLargeAsAsked() throws {
        // One frame of 8 MiB: more than the standard stack holds.
        let sum = Mutex(0)
        let thread = try OwnedThread(name: "deep", stackBytes: 16 << 20) {
            let total = withUnsafeTemporaryAllocation(byteCount: 8 << 20, alignment: 16) { buffer in
                for place in stride(from: 0, to: buffer.count, by: 4096) { buffer[place] = 1 }
                return stride(from: 0, to: buffer.count, by: 4096).reduce(0) {
                    $0 + Int(buffer[$1])
                }
            }
            sum.withLock { $0 = total }
        }
        thread.join()
        #expect(sum.withLock { $0 } == 2048)
    }

    @Test func anImpossibleStackIsRefused() {
        #expect(throws: ThreadError.cannotStart(name: "tiny", number: 22)) {
            try OwnedThread(name: "tiny", stackBytes: 1) {}
        }
        let error = ThreadError.cannotStart(name: "tiny", number: 22)
        #expect("\(error)".hasPrefix("cannot start the thread tiny: EINVAL; "))
    }
}
