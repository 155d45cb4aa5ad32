import ClusterCore
import ClusterProtocol
import ClusterVocabulary
@testable import Coordinator
import DurableFiles
import Jobs
import MigrationPlans
import RunLedger
import RunService
@testable import StoreRuns
import Testing

/// Runs of which nothing is left to do but their swaps.
@Suite struct AwaitedSwapTests {
    /// A run over two stores whose results wait, and a client.
    private func waiting(
        _ lab: CoordinatorLab
    ) throws -> (run: String, stores: [FilePath], client: ScriptedPeer) {
        try lab.finished(stores: 2, defersSwap: true)
    }

    @Test func whoWatchesIsToldThatNothingElseIsLeft() throws {
        try CoordinatorLab.run { lab in
            let (run, _, client) = try waiting(lab)
            try lab.told(.run(run, .awaitsSwap(stores: 2)))
            for _ in 0..<2 {
                let late = try lab.peer("late")
                try late.ask(.watch(run: run))
                #expect(try late.end(of: run) == 0)
                try lab.untilForgotten([run])
            }
            for request in [ClientRequest.pause(run: run), .resume(run: run)] {
                try client.ask(request)
                let refusal = try client.refusal()
                #expect(refusal.code == .awaitsSwap && refusal.run == run)
            }
            try lab.restart()
            let again = try lab.peer("again")
            try again.ask(.watch(run: run))
            #expect(try again.end(of: run) == 0)
            #expect(try lab.states(run) == [.validated: 2])
        }
    }

    @Test(arguments: [false, true])
    func itCanBeGivenUp(isForgotten: Bool) throws {
        try CoordinatorLab.run { lab in
            let (run, stores, client) = try waiting(lab)
            if isForgotten { try lab.untilForgotten([run]) }
            try client.ask(.cancel(run: run))
            try client.done()
            try client.ask(.watch(run: run))
            #expect(try client.end(of: run) == 2)
            #expect(try lab.states(run) == [.cancelled: 2])
            #expect(try lab.sharing.ledger.run(run)?.state == .cancelled)
            try client.ask(.cancel(run: run))
            #expect(try client.refusal().code == .notPossible)
            #expect(try lab.begin(stores) != run)
        }
    }

    @Test(arguments: ["at once", "forgotten", "restarted"])
    func theSameRequestWithoutWaitingSwaps(moment: String) throws {
        try CoordinatorLab.run { lab in
            let (run, stores, _) = try waiting(lab)
            if moment == "forgotten" { try lab.untilForgotten([run]) }
            if moment == "restarted" { try lab.restart() }
            #expect(try lab.begin(stores) == run)
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            #expect(try client.end(of: run) == 0)
            #expect(try lab.states(run) == [.done: 2])
            #expect(try lab.sharing.ledger.run(run)?.state == .ended)
        }
    }

    @Test(arguments: [false, true])
    func aRequestThatWaitsIsHonouredByARunUnderWay(isRestarted: Bool) throws {
        try CoordinatorLab.run { lab in
            let stores = try (1...2).map { try lab.sharing.forge("s\($0).sqlite") }
            let run = try lab.begin(stores)
            #expect(try lab.begin(stores, defersSwap: true) == run)
            try lab.told(.run(run, .swapsDeferred(true)))
            if isRestarted { try lab.restart() }
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            try lab.worker("w1").work(2)
            #expect(try client.end(of: run) == 0)
            #expect(try lab.states(run) == [.validated: 2])
        }
    }

    @Test func aResultThatIsBeingKeptIsSwappedToo() throws {
        try CoordinatorLab.run { lab in
            lab.tasks.hold { $0.kind == .keep }
            let store = try lab.sharing.forge("a.sqlite")
            let run = try lab.begin([store], defersSwap: true)
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            try lab.worker("w1").work(1)
            _ = try lab.tasks.next("the keeping") { $0.kind == .keep }
            #expect(try lab.begin([store]) == run)
            try lab.told(.run(run, .swapsDeferred(false)))
            lab.tasks.answerAll()
            #expect(try client.end(of: run) == 0)
            #expect(try lab.states(run) == [.done: 1])
        }
    }
}

/// Requests that there is nothing to do for.
@Suite struct VainRequestTests {
    @Test func replaysAndSwapsOfNothingAreRefused() throws {
        try CoordinatorLab.run { lab in
            let stores = try (1...2).map { try lab.sharing.forge("s\($0).sqlite") }
            let run = try lab.begin(stores)
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            try lab.worker("w1").work(2)
            #expect(try client.end(of: run) == 0)
            let requests: [(ClientRequest, Refusal.Code, String)] = [
                (.replay(run: run, store: 99), .notFound, "no store 99"),
                (.replay(run: run, store: 2), .notPossible, "store 2 of the run \(run) has not"),
                (.replay(run: run, store: nil), .notPossible, "nothing to replay"),
                (.swap(run: run, store: 2), .notPossible, "does not wait for its swap: it is done"),
                (.swap(run: run, store: nil), .notPossible, "waits for its swap"),
                (.swap(run: run, store: 25), .notFound, "no store 25"),
            ]
            for isForgotten in [false, true] {
                if isForgotten { try lab.untilForgotten([run]) }
                for (request, code, text) in requests {
                    try client.ask(request)
                    let refusal = try client.refusal()
                    #expect(refusal.code == code, "\(request)")
                    #expect(refusal.text.contains(text), "\(refusal.text)")
                }
            }
            #expect(try lab.sharing.ledger.run(run)?.state == .ended)
        }
    }

    @Test func watchersAreToldWhatHadFailedBeforeTheyCame() throws {
        try CoordinatorLab.run { lab in
            let stores = try (1...12).map { try lab.sharing.forge("s\($0).sqlite", notes: 3) }
            try lab.stop()
            let run = try lab.sharing.begin(stores).id
            try lab.sharing.fail(Array(1...12), of: run)
            try lab.start()
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            for number in 1...Note.mostFailures {
                let (key, file, cause) = try client.failure(isEarlier: true)
                #expect(key == StoreKey(run: run, number: number))
                #expect(file == "all:data/s\(number).sqlite")
                #expect(cause?.text == "t")
            }
            #expect(try client.end(of: run) == 12)
        }
    }

    @Test func adviceToClientsIsWhatTheyCanFollow() throws {
        try CoordinatorLab.run { lab in
            let store = try lab.sharing.forge("a.sqlite")
            let run = try lab.begin([store])
            let request = try lab.sharing.request([store], strategy: .partitioned)
            let text = try SubmittedRequest(request, output: nil).text()
            let client = try lab.peer("client")
            try client.ask(
                .submit(
                    SubmitRequest(
                        request: text,
                        paths: [FileReference(root: "all", path: "data/a.sqlite")])))
            let refusal = try client.refusal()
            #expect(refusal.text.hasPrefix("all:data/a.sqlite belongs to the unfinished run"))
            #expect(refusal.code == .otherRun && refusal.run == run)
        }
    }
}
