import Jobs

/// A task that waits for its turn.
struct PendingTask: Hashable, Sendable {
    /// The store's index.
    let store: Int
    /// The store's plan, by count: tasks of an earlier one are dropped.
    let generation: Int
    let kind: CoordinatorTask.Kind
    /// Why it rests, or is tried once more.
    var cause: Cause?

    /// Whether it takes long, so that it must not take every thread.
    var isHeavy: Bool {
        switch kind {
        case .admit, .keep, .swap: false
        case .prepare, .step, .index, .validate: true
        }
    }
}

/// Tasks that wait and tasks that the loop has; each kind keeps a thread from the other where
/// there are two.
struct TaskQueue: Sendable {
    private var heavy = Queue<PendingTask>()
    private var light = Queue<PendingTask>()
    private(set) var running: [TaskID: PendingTask] = [:]
    private var runningHeavy = 0
    private var lastWasHeavy = false
    private var nextID = 1
    let limit: Int

    init(limit: Int) { self.limit = max(1, limit) }

    var waiting: Int { heavy.count + light.count }
    var isIdle: Bool { waiting == 0 && running.isEmpty }

    mutating func append(_ task: PendingTask) {
        if task.isHeavy { heavy.append(task) } else { light.append(task) }
    }

    /// The next task to begin; nil where none waits or the loop has enough.
    mutating func next() -> PendingTask? {
        guard running.count < limit else { return nil }
        let share = max(1, limit - 1)
        let mayBeHeavy = !heavy.isEmpty && (runningHeavy < share || limit == 1)
        let mayBeLight =
            !light.isEmpty && (running.count - runningHeavy < share || heavy.isEmpty)
        guard mayBeHeavy || mayBeLight else { return nil }
        lastWasHeavy = mayBeHeavy && (!mayBeLight || !lastWasHeavy)
        return lastWasHeavy ? heavy.popFirst() : light.popFirst()
    }

    /// Gives a task to the loop.
    mutating func begin(_ task: PendingTask) -> TaskID {
        let id = TaskID(nextID)
        nextID += 1
        running[id] = task
        if task.isHeavy { runningHeavy += 1 }
        return id
    }

    /// Takes a task back that has ended.
    mutating func end(_ id: TaskID) -> PendingTask? {
        guard let task = running.removeValue(forKey: id) else { return nil }
        if task.isHeavy { runningHeavy -= 1 }
        return task
    }
}
