package import Jobs

/// Something that breaks a rule of the model, counted and never shown.
package struct Fault: Hashable, Sendable, Codable, Comparable {
    /// What kind of rule is broken.
    package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// A required attribute without a value.
        case missingValue
        /// A required to-one without a target.
        case missingLink
        /// More or fewer links than the relationship allows.
        case cardinality
        /// Equal values where they must differ.
        case duplicate
        /// A reference to an object that is not there, or not of an entity that may stand there.
        case dangling
        /// A value in a column that rows of the entity do not use.
        case stray
        /// A row whose entity does not exist.
        case unknownEntity
        /// A list whose places are missing or not distinct.
        case missingOrder
        /// A reference to a file of external data that is not there.
        case missingFile
        /// A file of external data that differs from the source's.
        case changedFile
        /// A row of a table of one entity with the number of another one; the result has the
        /// right number.
        case foreignEntity
        /// A `Z_MAX` that is negative or below a key in use; the result has the right one.
        case lowMaximum
        /// A row of a table of the app's own that breaks a `CHECK` of that table.
        case brokenCheck
    }

    /// The entity, or the table where a row has no entity.
    package let entity: String
    /// Empty where the fault is the object's.
    package let property: String
    package let kind: Kind

    package init(entity: String, property: String, kind: Kind) {
        self.entity = entity
        self.property = property
        self.kind = kind
    }

    /// A fault of the property that a sum is called after: the label is split at its first
    /// point, for names of entities have none, those of composite attributes' elements do.
    init(_ label: String, _ kind: Kind) {
        let point = label.firstIndex(of: ".") ?? label.endIndex
        self.init(
            entity: String(label[..<point]), property: String(label[point...].dropFirst()),
            kind: kind)
    }

    package static func < (left: Fault, right: Fault) -> Bool {
        (left.entity, left.property, left.kind.rawValue)
            < (right.entity, right.property, right.kind.rawValue)
    }
}

/// How often a fault occurs on both sides.
package struct FaultCount: Hashable, Sendable, Codable {
    package var source: Int64
    package var destination: Int64

    package init(source: Int64 = 0, destination: Int64 = 0) {
        self.source = source
        self.destination = destination
    }

    /// Faults that the source has not.
    package var new: Int64 { max(0, destination - source) }
    /// Faults that the source has already.
    package var inherited: Int64 { min(source, destination) }
}

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
        findings.merge(other.findings) { $0 + $1 }
        for note in other.notes where !notes.contains(note) { notes.append(note) }
    }

    /// What sums differ, in order; a sum that one side has not counts as one of nothing.
    var unequal: [String] {
        var labels = expected.compactMap { label, sum in
            actual[label, default: ContentSum()] == sum ? nil : label
        }
        labels += actual.compactMap { label, sum in
            expected[label] == nil && sum != ContentSum() ? label : nil
        }
        return labels.sorted()
    }

    /// Counts a fault; nothing for two zeros.
    mutating func add(
        _ made: @autoclosure () -> Fault, source: Int64 = 0, destination: Int64 = 0
    ) {
        guard source != 0 || destination != 0 else { return }
        let fault = made()
        faults[fault, default: FaultCount()].source += source
        faults[fault, default: FaultCount()].destination += destination
    }

    /// Counts a fault of the source that the result cannot show: it was put right, or what had
    /// it is gone.
    mutating func addInherited(_ made: @autoclosure () -> Fault, _ count: Int64) {
        add(made(), source: count, destination: count)
    }

    /// Adds a sum of what must be.
    mutating func addExpected(_ sum: ContentSum, _ label: String) {
        expected[label, default: ContentSum()].add(sum)
    }

    /// Adds a sum of what is.
    mutating func addActual(_ sum: ContentSum, _ label: String) {
        actual[label, default: ContentSum()].add(sum)
    }
}
