extension Int64 {
    /// The sum, or the highest number where that is lower: sizes that files claim to have may be
    /// anything.
    package func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
