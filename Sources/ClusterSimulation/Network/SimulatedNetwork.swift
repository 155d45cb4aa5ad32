/// How unreliable a network is; chances are in a thousand.
struct NetworkWeather {
    var loss = 0
    var duplication = 0
    /// Chance that a message is held back long enough to be overtaken by later ones.
    var detour = 0
    /// The usual delay, in milliseconds.
    var delay = 0...3
    /// The delay of a message that is held back, in milliseconds.
    var detourDelay = 50...4_000

    /// Nothing is lost and little late.
    static let calm = NetworkWeather()

    static func random(using generator: inout SimulationGenerator) -> NetworkWeather {
        var weather = NetworkWeather()
        if generator.happens(perMille: 700) { weather.loss = generator.number(0...80) }
        if generator.happens(perMille: 700) { weather.duplication = generator.number(0...80) }
        if generator.happens(perMille: 700) { weather.detour = generator.number(0...100) }
        weather.delay = 0...generator.number(1...40)
        weather.detourDelay = 20...generator.number(100...20_000)
        return weather
    }
}

/// Decides the fate of each message between the coordinator and the workers.
struct SimulatedNetwork {
    private var generator: SimulationGenerator
    var weather: NetworkWeather
    /// Until when nothing passes to or from a worker, by the worker's number.
    private var partitions: [Int64]

    init(workers: Int, weather: NetworkWeather, generator: SimulationGenerator) {
        self.generator = generator
        self.weather = weather
        partitions = Array(repeating: 0, count: workers)
    }

    /// Cuts a worker off until a time.
    mutating func cut(worker: Int, until time: Int64) {
        partitions[worker] = max(partitions[worker], time)
    }

    /// Ends all faults.
    mutating func calmDown() {
        weather = .calm
        for worker in partitions.indices { partitions[worker] = 0 }
    }

    /// When copies of a message that is sent now arrive; empty where it is lost.
    mutating func arrivals(worker: Int, now: Int64) -> [Int64] {
        if now < partitions[worker] || generator.happens(perMille: weather.loss) { return [] }
        let copies = generator.happens(perMille: weather.duplication) ? 2 : 1
        return (0..<copies).map { _ in
            let isHeld = generator.happens(perMille: weather.detour)
            return now + generator.span(isHeld ? weather.detourDelay : weather.delay)
        }
    }
}
