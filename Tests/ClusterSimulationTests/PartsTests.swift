import Jobs
import Testing

@testable import ClusterSimulation

/// The parts of the simulated world on their own.
struct PartsTests {
    @Test("Events come by time, and in the order of scheduling where times are equal")
    func queueOrder() {
        var queue = EventQueue<Int>()
        var generator = SimulationGenerator(seed: 5)
        var expected: [(time: Int64, number: Int)] = []
        for number in 0..<500 {
            let time = generator.span(0...40)
            queue.schedule(number, at: time)
            expected.append((time, number))
        }
        expected.sort { ($0.time, $0.number) < ($1.time, $1.number) }
        var taken: [Int] = []
        while let next = queue.take() { taken.append(next.event) }
        #expect(taken == expected.map(\.number))
    }

    @Test("The generator is SplitMix64 and keeps its range")
    func generator() {
        var generator = SimulationGenerator(seed: 0)
        #expect(generator.next() == 0xE220_A839_7B1D_CDAF)
        let numbers = (0..<1_000).map { _ in generator.number(3...7) }
        #expect(Set(numbers) == [3, 4, 5, 6, 7])
    }

    @Test("The trace's hash depends on order, time and text, not on whether lines are kept")
    func traceHash() {
        func hash(_ notes: [(Int64, String)], keepsLines: Bool = false) -> UInt64 {
            var trace = SimulationTrace(keepsLines: keepsLines)
            for (time, text) in notes { trace.note(time, text) }
            return trace.hash
        }
        let base = hash([(1, "one"), (2, "two")])
        #expect(base == hash([(1, "one"), (2, "two")], keepsLines: true))
        #expect(base != hash([(2, "two"), (1, "one")]))
        #expect(base != hash([(1, "one"), (3, "two")]))
        #expect(base != hash([(1, "on"), (2, "etwo")]))
    }

    @Test("The engine's result of every random store is right, and every spoiled one is wrong")
    func engine() throws {
        var generator = SimulationGenerator(seed: 11)
        for number in 0..<200 {
            var store = SimulatedStore.random(
                number: number, isWhole: number.isMultiple(of: 4), using: &generator)
            let rows = try built(&store)
            #expect(SimulatedEngine.isRight(rows, for: store.rows))
            let place = generator.number(0...rows.count - 1)
            var spoiled = rows
            spoiled.remove(at: place)
            #expect(!SimulatedEngine.isRight(spoiled, for: store.rows))
            #expect(!SimulatedEngine.isRight(rows + [rows[place]], for: store.rows))
            spoiled = rows
            spoiled[place].target = spoiled[place].target == nil ? 10 : nil
            #expect(!SimulatedEngine.isRight(spoiled, for: store.rows))
        }
    }

    /// All stages of one store, without a cluster.
    private func built(_ store: inout SimulatedStore) throws -> [SimulatedResultRow] {
        var destination = SimulatedDestination()
        if store.isWhole {
            let content = try SimulatedEngine.run(.whole, of: store)
            try SimulatedEngine.merge(content, into: &destination)
            return destination.rows
        }
        for chunk in store.chunks.indices {
            let content = try SimulatedEngine.run(.copy(chunk: chunk), of: store)
            try SimulatedEngine.merge(content, into: &destination)
        }
        store.destination = destination
        for chunk in store.chunks.indices {
            let content = try SimulatedEngine.run(.link(chunk: chunk), of: store)
            try SimulatedEngine.apply(content, to: &destination)
        }
        return destination.rows
    }

    @Test("A calm network delivers once, a cut one nothing, a bad one loses and repeats")
    func network() {
        let generator = SimulationGenerator(seed: 3)
        var network = SimulatedNetwork(workers: 2, weather: .calm, generator: generator)
        for time in 0..<100 {
            #expect(network.arrivals(worker: 0, now: Int64(time)).count == 1)
        }
        network.cut(worker: 1, until: 500)
        #expect(network.arrivals(worker: 1, now: 499).isEmpty)
        #expect(network.arrivals(worker: 1, now: 500).count == 1)
        network.weather = NetworkWeather(loss: 200, duplication: 200)
        let counts = (0..<1_000).map { network.arrivals(worker: 0, now: $0).count }
        #expect(Set(counts) == [0, 1, 2])
    }
}
