/// What a simulated world is like; drawn from its seed.
///
/// Times are in milliseconds, chances in a thousand.
struct WorldTuning {
    var mostStores = 6
    var wholeStores = 500
    var poison = 0
    var otherEngine = 0
    /// That an order in a slot fails by itself.
    var slotFailure = 0
    /// That a slot hangs in an order.
    var slotHang = 0
    /// When the worker's watchdog ends a slot that makes no progress.
    var watchdog: Int64 = 20_000
    var lease = 30_000
    var heartbeat = 1_000
    var slotStep = 10...400
    var taskTime = 1...300
    var ledgerSync = 1...12
    /// How long a work of a run takes to begin, and again to be answered.
    var workTime = 0...20
    /// That a work of a run cannot be done for now.
    var workFailure = 0
    /// That there is too little space for a run that is submitted, or waits for it.
    var shortage = 0
    var workerQuarantine: Int64 = 60_000
    /// When a job may count as slow.
    var slowAfter: Int64 = 10_000
    var tasks = 2
    var largeStores = 4
    var batchJobs = 16
    var storesAhead = 32
    var roomRetry = 30_000
    /// Whether workers end with their coordinator's machine and their end is noticed for certain.
    var isLocal = false
    /// Whether messages cross as bytes, which takes as long as all the rest.
    var encodes = false
    var mostEvents = 1_000_000
    /// How long the fleet may take once faults stopped.
    var patience: Int64 = 4 * 3_600_000

    static func random(using generator: inout SimulationGenerator) -> WorldTuning {
        var tuning = WorldTuning()
        tuning.mostStores = generator.number(1...9)
        tuning.wholeStores = [0, 200, 500, 800, 1_000][generator.number(0...4)]
        if generator.happens(perMille: 400) { tuning.poison = generator.number(100...500) }
        if generator.happens(perMille: 200) { tuning.otherEngine = 400 }
        if generator.happens(perMille: 500) { tuning.slotFailure = generator.number(10...150) }
        if generator.happens(perMille: 300) { tuning.slotHang = generator.number(10...60) }
        tuning.watchdog = generator.span(5_000...60_000)
        tuning.lease = generator.number(6_000...30_000)
        tuning.heartbeat = generator.number(500...2_000)
        tuning.slotStep = 5...generator.number(50...4_000)
        tuning.taskTime = 1...generator.number(20...4_000)
        tuning.ledgerSync = 1...generator.number(2...60)
        tuning.workTime = 0...generator.number(1...2_000)
        if generator.happens(perMille: 300) { tuning.workFailure = generator.number(20...300) }
        if generator.happens(perMille: 500) { tuning.shortage = generator.number(100...900) }
        tuning.isLocal = generator.happens(perMille: 250)
        tuning.workerQuarantine = generator.span(5_000...120_000)
        tuning.slowAfter = generator.span(100...10_000)
        tuning.tasks = generator.number(1...4)
        tuning.largeStores = generator.number(1...4)
        tuning.batchJobs = generator.number(1...6)
        tuning.storesAhead = generator.number(1...6)
        tuning.roomRetry = generator.number(1_000...30_000)
        tuning.encodes = generator.happens(perMille: 200)
        return tuning
    }
}
