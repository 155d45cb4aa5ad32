package import Jobs
package import MappingModel
package import StoreFileChecks

/// What one part of a validation found.
///
/// Parts add up in any order.
package struct PartialResult: Hashable, Sendable, Codable {
    /// Sums of what must be, by what they are over: `Entity.property`, `index NAME`.
    package var expected: [String: ContentSum] = [:]
    /// Sums of what is.
    package var actual: [String: ContentSum] = [:]
    package var sourceRows: Int64 = 0
    package var destinationRows: Int64 = 0
    package var joinRows: Int64 = 0
    package var faults: [Fault: FaultCount] = [:]
    /// What the source has and the mapping leaves nowhere.
    package private(set) var losses: [Loss.Subject: Int64] = [:]
    /// What is wrong beyond rows, by the name of the check, in words; empty for passed checks.
    package var findings: [String: [String]] = [:]
    /// Notes that block nothing.
    package var notes: [String] = []

    package init() {}

    /// Adds what another part found.
    package mutating func merge(_ other: PartialResult) {
        for (label, sum) in other.expected { expected[label, default: ContentSum()].add(sum) }
        for (label, sum) in other.actual { actual[label, default: ContentSum()].add(sum) }
        sourceRows += other.sourceRows
        destinationRows += other.destinationRows
        joinRows += other.joinRows
        for (fault, count) in other.faults {
            add(fault, source: count.source, destination: count.destination)
        }
        for (subject, count) in other.losses { addLoss(subject, count) }
        findings.merge(other.findings) { $0 + $1 }
        for note in other.notes where !notes.contains(note) { notes.append(note) }
    }

    /// What sums differ, in order; a sum that one side has not counts as one of nothing.
    package var unequal: [String] {
        var labels = expected.compactMap { label, sum in
            actual[label, default: ContentSum()] == sum ? nil : label
        }
        labels += actual.compactMap { label, sum in
            expected[label] == nil && sum != ContentSum() ? label : nil
        }
        return labels.sorted()
    }

    /// Counts a fault; nothing for two zeros.
    package mutating func add(
        _ made: @autoclosure () -> Fault, source: Int64 = 0, destination: Int64 = 0
    ) {
        guard source != 0 || destination != 0 else { return }
        faults.add(made(), source: source, destination: destination)
    }

    /// Counts a fault of the source that the result cannot show: it was put right, or what had
    /// it is gone.
    package mutating func addInherited(_ made: @autoclosure () -> Fault, _ count: Int64) {
        add(made(), source: count, destination: count)
    }

    /// Counts a loss; nothing for zero.
    package mutating func addLoss(_ subject: Loss.Subject, _ count: Int64) {
        if count != 0 { losses[subject, default: 0] += count }
    }

    /// Adds a sum of what must be.
    package mutating func addExpected(_ sum: ContentSum, _ label: String) {
        expected[label, default: ContentSum()].add(sum)
    }

    /// Adds a sum of what is.
    package mutating func addActual(_ sum: ContentSum, _ label: String) {
        actual[label, default: ContentSum()].add(sum)
    }
}
