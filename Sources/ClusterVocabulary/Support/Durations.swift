/// How long jobs took, summed up.
package struct Durations: Hashable, Sendable {
    private var milliseconds: Int64 = 0
    package private(set) var jobs: Int64 = 0

    package init() {
    }

    /// Adds the time of one job, in milliseconds.
    package mutating func add(_ time: Int64) {
        milliseconds &+= max(0, time)
        jobs &+= 1
    }

    /// Milliseconds of one job; 0 before the first has ended.
    package var mean: Int64 { jobs > 0 ? milliseconds / jobs : 0 }
}
