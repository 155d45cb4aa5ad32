/// A moment on the monotonic clock of the process that the machine lives in.
///
/// Never a wall clock's: leases must not end because a user set the time.
package struct Instant: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Where clocks begin.
    package static let zero = Instant(milliseconds: 0)

    package static func < (left: Instant, right: Instant) -> Bool {
        left.milliseconds < right.milliseconds
    }

    package var description: String { "\(milliseconds) ms" }

    /// The moment so many milliseconds later; the last one there is where it would overflow.
    package func adding(_ duration: Int64) -> Instant {
        let (sum, overflows) = milliseconds.addingReportingOverflow(duration)
        return Instant(milliseconds: overflows ? Int64.max : sum)
    }

    /// Milliseconds from another moment to this one; below 0 where the other is later.
    package func since(_ earlier: Instant) -> Int64 {
        let (difference, overflows) =
            milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        return overflows ? Int64.max : difference
    }
}
