import DurableFiles

/// Which files below a folder are wanted: those that one pattern of every required group stands
/// for, and none of the excluded ones.
struct PathFilter: Sendable {
    /// How far each pattern of a group has come on the way to a folder.
    fileprivate struct Progress: Sendable {
        var places: [PathPattern.Places]
        /// Whether a pattern stands for a folder on the way, and so for everything in it.
        var isMatched = false
    }

    /// What is known of a folder.
    struct State: Sendable {
        fileprivate var required: [Progress]
        fileprivate var excluded: Progress
    }

    private let required: [[PathPattern]]
    private let excluded: [PathPattern]

    /// - Parameters:
    ///   - required: groups of patterns; an empty group asks for nothing.
    ///   - excluded: patterns of what is left out.
    init(required: [[PathPattern]], excluded: [PathPattern]) {
        self.required = required.filter { !$0.isEmpty }
        self.excluded = excluded
    }

    /// Whether every file is wanted.
    var takesEverything: Bool { required.isEmpty && excluded.isEmpty }

    /// What is known of the folder that paths are relative to.
    var start: State {
        State(
            required: required.map { group in Progress(places: group.map(\.start)) },
            excluded: Progress(places: excluded.map(\.start)))
    }

    /// What is known of a folder in a folder; nil where nothing in it can be wanted.
    func entering(_ name: [UInt32], from state: State) -> State? {
        let excluded = advance(excluded, state.excluded, over: name, isFolder: true)
        guard !excluded.isMatched else { return nil }
        var next = State(required: [], excluded: excluded)
        for (group, progress) in zip(required, state.required) {
            let progress = advance(group, progress, over: name, isFolder: true)
            let canGoOn = zip(group, progress.places).contains { $0.canGoOn($1) }
            guard progress.isMatched || canGoOn else { return nil }
            next.required.append(progress)
        }
        return next
    }

    /// Whether a file in a folder is wanted.
    func takes(_ name: [UInt32], in state: State) -> Bool {
        if advance(excluded, state.excluded, over: name, isFolder: false).isMatched {
            return false
        }
        return zip(required, state.required).allSatisfy { group, progress in
            advance(group, progress, over: name, isFolder: false).isMatched
        }
    }

    private func advance(
        _ group: [PathPattern], _ progress: Progress, over name: [UInt32], isFolder: Bool
    ) -> Progress {
        if progress.isMatched { return progress }
        let places = zip(group, progress.places).map { $0.advance(over: name, from: $1) }
        let isMatched = zip(group, places).contains { pattern, places in
            pattern.isComplete(places) && (isFolder || !pattern.wantsFolder)
        }
        return Progress(places: places, isMatched: isMatched)
    }
}
