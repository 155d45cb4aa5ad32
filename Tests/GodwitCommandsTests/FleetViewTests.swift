import DurableFiles
@testable import GodwitCommands
import LocalRun
import Synchronization
import Testing

@Suite struct FleetViewTests {
    @Test func storesCountByTheirBytes() {
        var pace = FleetPace(stores: 11, bytes: 1_000 << 20, began: 5)
        #expect(pace.secondsLeft(at: 20) == nil && pace.rate(at: 20) == nil)
        for _ in 0..<10 { pace.add(bytes: 1 << 20) }
        // Ten of eleven stores, a hundredth of the bytes.
        #expect(pace.rate(at: 15) == 1)
        let left = pace.secondsLeft(at: 15) ?? 0
        #expect((700...900).contains(left), "\(left)")
        pace.add(bytes: 990 << 20)
        #expect(pace.secondsLeft(at: 15) == nil)
    }

    @Test func emptyStoresTakeTimeToo() {
        var pace = FleetPace(stores: 4, bytes: 0, began: 0)
        pace.add(bytes: 0)
        #expect(pace.secondsLeft(at: 2) == 6)
        pace.add(bytes: -5)
        #expect(pace.secondsLeft(at: 2) == 2)
    }

    /// A disk that stays full is told of once, however often it is tried.
    @Test func pausesAreToldOnce() {
        let lines = Mutex<[String]>([])
        let view = FleetView(stores: 2, isLive: false, clock: { 0 }) { line in
            lines.withLock { $0.append(line) }
        }
        let path = FilePath("/a.sqlite")
        view.show(.begun(stores: 2, bytes: 10))
        for _ in 0..<3 {
            view.show(.paused("no room: /s"))
            view.show(.resumed)
            view.show(.progress(store: 1, path: path, .began(.prepare, jobs: 0)))
            view.show(.progress(store: 1, path: path, .ended(.prepare)))
        }
        let paused = "paused: no room: /s; it goes on by itself"
        #expect(lines.withLock { $0 } == [paused])
        view.show(.progress(store: 1, path: path, .jobDone(.copy, rows: 1, bytes: 1)))
        view.show(.ended(store: 1, path: path, .unchanged))
        let resumed = "going on: there is room again"
        #expect(lines.withLock { $0 } == [paused, resumed])
        view.show(.paused("no room: /t"))
        view.show(.ended(store: 2, path: path, .unchanged))
        #expect(lines.withLock { $0.last } == "paused: no room: /t; it goes on by itself")
        #expect(view.migrated.stores == 2)
    }
}
