package import ClusterVocabulary
package import Jobs

/// A task that waits for its turn.
package struct PendingTask: Hashable, Sendable {
    /// The store's index.
    package let store: Int
    /// The store's plan, by count: tasks of an earlier one are dropped.
    package let generation: Int
    package let kind: CoordinatorTask.Kind
    /// Why it rests, or is tried once more.
    package var cause: FailureReason?

    package init(
        store: Int, generation: Int, kind: CoordinatorTask.Kind, cause: FailureReason? = nil
    ) {
        self.store = store
        self.generation = generation
        self.kind = kind
        self.cause = cause
    }

    /// Whether it takes long, so that it must not take every thread.
    package var isHeavy: Bool {
        switch kind {
        case .admit, .keep, .swap: false
        case .prepare, .step, .index, .validate: true
        }
    }
}

/// Tasks that wait, tasks that rest, and tasks that the loop has; each kind keeps a thread from
/// the other where there are two.
package struct TaskTable: Sendable {
    private var heavy = Queue<PendingTask>()
    private var light = Queue<PendingTask>()
    package private(set) var running: [TaskID: PendingTask] = [:]
    /// Tasks that wait for another try, by a number of their own.
    package private(set) var resting: [Int: PendingTask] = [:]
    private var runningHeavy = 0
    private var lastWasHeavy = false
    private var nextID = 1
    package let limit: Int

    package init(limit: Int) { self.limit = max(1, limit) }

    /// Whether no task is to be done, now or later.
    package var isIdle: Bool {
        heavy.isEmpty && light.isEmpty && running.isEmpty && resting.isEmpty
    }

    /// Lets a task wait for its turn.
    package mutating func append(_ task: PendingTask) {
        if task.isHeavy { heavy.append(task) } else { light.append(task) }
    }

    /// The next task to begin; nil where none waits or the loop has enough.
    package mutating func next() -> PendingTask? {
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
    package mutating func begin(_ task: PendingTask) -> TaskID {
        let id = TaskID(nextID)
        nextID += 1
        running[id] = task
        if task.isHeavy { runningHeavy += 1 }
        return id
    }

    /// Takes a task back that has ended.
    package mutating func end(_ id: TaskID) -> PendingTask? {
        guard let task = running.removeValue(forKey: id) else { return nil }
        if task.isHeavy { runningHeavy -= 1 }
        return task
    }

    /// Lets a task rest before its next try.
    package mutating func rest(_ task: PendingTask, _ number: Int, after reason: FailureReason?) {
        resting[number] = task
        resting[number]?.cause = reason
    }

    /// Lets a task that has rested wait for its turn.
    package mutating func wake(_ number: Int) {
        if let task = resting.removeValue(forKey: number) { append(task) }
    }
}
