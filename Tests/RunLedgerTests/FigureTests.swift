import DurableFiles
import Jobs
import TestSupport
import Testing

@testable import RunLedger

/// How far runs are: what is kept in memory is what a reader beside reads from the file.
@Suite struct FigureTests {
    private static let states: [StoreState] = [.running, .validated, .done, .failed, .cancelled]

    private func records(
        _ runs: [String], _ random: inout some RandomNumberGenerator
    ) -> [LedgerRecord] {
        let run = runs.randomElement(using: &random) ?? ""
        let state = RunState.allCases.randomElement(using: &random) ?? .open
        let store = Int.random(in: 0..<6, using: &random)
        let next = Self.states.randomElement(using: &random) ?? .running
        return switch Int.random(in: 0..<4, using: &random) {
        case 0: [.runChanged(run: run, state, .paused(.stopped("\(state)")), at: 1)]
        case 1: [.storesFound(run: run, found(store..<(store + 2)))]
        default: [.storeChanged(run: run, store: store, next, reason: nil, at: 1)]
        }
    }

    @Test(arguments: 0..<8) func whatIsKeptIsWhatIsStored(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        try withFolder { folder in
            let ledger = try openLedger(folder)
            var runs: [String] = []
            var refused = 0
            for round in 0..<120 {
                if round.isMultiple(of: 20) {
                    runs.append("r\(round)")
                    try ledger.append(beginning("r\(round)", stores: 4))
                }
                do throws(LedgerError) {
                    try ledger.append(records(runs, &random) + records(runs, &random))
                } catch {
                    refused += 1
                }
                let selections: [RunStats.Selection] = [.newest(3), .named(runs)]
                let reader = try Ledger(reading: folder)
                for selection in selections {
                    let stored = try reader.figures(of: selection)
                    #expect(try ledger.figures(of: selection) == stored)
                    #expect(ledger.knownFigures(of: selection) == stored)
                    #expect(reader.knownFigures(of: selection) == nil)
                    for figures in stored {
                        #expect(try ledger.run(figures.run)?.state == figures.state)
                        #expect(try ledger.storeCounts(of: figures.run) == figures.stores)
                        #expect(
                            try ledger.unfinishedBytes(of: figures.run) == figures.bytesLeft)
                    }
                }
                try reader.close()
            }
            #expect(refused > 0 && refused < 120)
            try ledger.close()
        }
    }

    @Test func whatIsNotKnownHasToBeRead() throws {
        try withLedger { ledger in
            try ledger.append(beginning("a", stores: 1) + beginning("b", stores: 2))
            #expect(ledger.knownFigures(of: .named(["a"])) == nil)
            #expect(try ledger.figures(of: .named(["a", "none"])).map(\.run) == ["a"])
            #expect(ledger.knownFigures(of: .named(["a"]))?.first?.stores == [.waiting: 1])
            #expect(ledger.knownFigures(of: .named(["a", "b"])) == nil)
            #expect(try ledger.figures(of: .newest(1)).map(\.run) == ["b"])
            #expect(ledger.knownFigures(of: .newest(2)) == nil)
        }
    }

    /// A coordinator that serves for years does not keep every run it was ever asked for.
    @Test func whatIsKeptIsBounded() throws {
        try withLedger { ledger in
            let runs = (0..<600).map { "r\($0)" }
            for run in runs { try ledger.append(beginning(run, stores: 0)) }
            for run in runs { _ = try ledger.figures(of: .named([run])) }
            let known = runs.filter { ledger.knownFigures(of: .named([$0])) != nil }
            #expect(known.count < 600 && known.last == runs.last)
        }
    }
}
