import CoreDataStore
import DurableFiles
import Jobs
package import MappingModel
package import SafeSQLite
package import StoreFileChecks
package import ValidationScans

/// One object or link that is not what it must be: where, never what.
package struct Difference: Hashable, Sendable, Codable {
    /// How it differs.
    package enum Kind: String, Hashable, Sendable, Codable {
        /// The object is missing from the destination.
        case missing
        /// The object is in the destination and should not be.
        case surplus
        /// The object is of another entity.
        case entity
        /// A value differs.
        case value
        /// Links of the object differ.
        case links
    }

    /// `x-coredata://STORE-UUID/Entity/pKEY`, in the destination's keys.
    package let uri: String
    /// Empty where the whole object differs.
    package let property: String
    package let kind: Kind
}

/// A fault with its count.
package struct CountedFault: Hashable, Sendable, Codable {
    package let fault: Fault
    package let count: Int64
}

/// What a validation found as a whole.
package struct ValidationReport: Hashable, Sendable, Codable {
    /// Whether the destination has no differences from the expected result.
    package let isEqual: Bool
    /// Rows of entity tables of the destination.
    package let rows: Int64
    package let sourceRows: Int64
    /// Cells that were compared, `Z_ENT` and `Z_OPT` included.
    package let values: Int64
    /// Links of to-ones and hidden keys that were compared.
    package let links: Int64
    /// Rows of join tables of the destination.
    package let joinRows: Int64
    /// Entries of indexes that were held against their tables, column by column.
    package let indexEntries: Int64
    /// What sums differ: `Entity.property`, `index NAME`.
    package let unequal: [String]
    /// The first objects that differ.
    package let differences: [Difference]
    /// What the source has and the result has not, as the mapping asks; the greatest first.
    package let losses: [Loss]
    /// Faults that the source has already; they block nothing.
    package let inherited: [CountedFault]
    /// Faults that only the destination has.
    package let newFaults: [CountedFault]
    /// What checks of the file found, by the name of the check; empty for passed ones.
    package let checks: [String: [String]]
    /// Things that people should know.
    package let notes: [String]

    /// The report in lines, for people.
    package var lines: [String] {
        var lines = [
            isEqual
                ? "The result matches the source\(losses.isEmpty ? "" : Loss.exception)."
                : "Differences were found.",
            "\(rows) rows (source \(sourceRows)), \(values) values, \(links) links, "
                + "\(joinRows) join rows, \(indexEntries) index entries compared",
        ]
        lines += losses.map { "lost: \($0.line)" }
        lines += unequal.map { "differs: \($0)" }
        lines += newFaults.map { "new: \($0.line)" }
        for (name, found) in checks.sorted(by: { $0.key < $1.key }) {
            lines += found.map { "\(name): \($0)" }
        }
        lines += differences.map {
            "\($0.uri)\($0.property.isEmpty ? "" : " \($0.property)"): \($0.kind.rawValue)"
        }
        lines += inherited.map { "inherited: \($0.line)" }
        return lines + notes
    }
}

extension ValidationReport {
    /// The same report with other losses: as the original calls them.
    package func losing(_ losses: [Loss]) -> ValidationReport {
        ValidationReport(
            isEqual: isEqual, rows: rows, sourceRows: sourceRows, values: values, links: links,
            joinRows: joinRows, indexEntries: indexEntries, unequal: unequal,
            differences: differences, losses: losses, inherited: inherited, newFaults: newFaults,
            checks: checks, notes: notes)
    }

    /// The report on two migrations in a row, where this one began with the earlier one's result.
    ///
    /// What was compared is added up, and what the earlier one lost or found is kept.
    package func following(_ earlier: ValidationReport) -> ValidationReport {
        let known = Set(earlier.inherited.map(\.fault))
        return ValidationReport(
            isEqual: isEqual && earlier.isEqual, rows: rows, sourceRows: earlier.sourceRows,
            values: values.addingClamped(earlier.values), links: links.addingClamped(earlier.links),
            joinRows: joinRows.addingClamped(earlier.joinRows),
            indexEntries: indexEntries.addingClamped(earlier.indexEntries),
            unequal: earlier.unequal + unequal, differences: earlier.differences + differences,
            losses: Loss.combined(earlier.losses + losses),
            inherited: earlier.inherited + inherited.filter { !known.contains($0.fault) },
            newFaults: earlier.newFaults + newFaults,
            checks: earlier.checks.merging(checks) { $0 + $1 },
            notes: earlier.notes + notes.filter { !earlier.notes.contains($0) })
    }
}

extension CountedFault {
    /// The fault in a few words.
    package var line: String {
        let place = fault.property.isEmpty ? fault.entity : "\(fault.entity).\(fault.property)"
        return "\(place): \(count) × \(fault.kind.text)"
    }
}

extension Fault.Kind {
    /// The kind for people.
    package var text: String {
        switch self {
        case .missingValue: "no value in a required attribute"
        case .missingLink: "no target of a required relationship"
        case .cardinality: "a number of links that is not allowed"
        case .duplicate: "duplicate values under a uniqueness constraint"
        case .dangling: "a reference to a missing object"
        case .stray: "a value in a column that the entity does not use"
        case .unknownEntity: "a row of an unknown entity"
        case .missingOrder: "a place in a list that is missing, wrong, shared or without a list"
        case .missingFile: "a missing external data file"
        case .changedFile: "a file of external data that changed"
        case .foreignEntity: "a row with the number of another entity, read as its table's own"
        case .lowMaximum: "a Z_MAX below the highest key, which was raised"
        case .brokenCheck: "a row that breaks a CHECK of its table"
        }
    }
}

extension Validator {
    /// The most differences that a report lists.
    package static let differenceLimit = 100

    /// Judges what all parts found together, and lists the objects behind sums that differ.
    ///
    /// - Throws: `StoreError` where a file cannot be read.
    package func report(
        on whole: PartialResult, limit: Int = Validator.differenceLimit
    ) throws(StoreError) -> ValidationReport {
        let unequal = whole.unequal
        let linkLabels = Set(places.filter { !$0.storage.isJoin }.map(\.label))
        let joinLabels = Set(places.filter { $0.storage.isJoin }.map(\.label))
        var values: Int64 = 0
        var links: Int64 = 0
        var entries: Int64 = 0
        for (label, sum) in whole.actual {
            if label.hasPrefix("index ") {
                entries += sum.count
            } else if linkLabels.contains(label) {
                links += sum.count
            } else if !joinLabels.contains(label) {
                values += sum.count
            }
        }
        let faults = whole.faults.sorted { $0.key < $1.key }
        let new = faults.compactMap { fault, count in
            count.new > 0 ? CountedFault(fault: fault, count: count.new) : nil
        }
        let inherited = faults.compactMap { fault, count -> CountedFault? in
            // What no property shows is not carried over, and would go unseen.
            let number = fault.kind == .stray ? count.source : count.inherited
            return number > 0 ? CountedFault(fault: fault, count: number) : nil
        }
        let isEqual =
            unequal.isEmpty && new.isEmpty && whole.findings.values.allSatisfy(\.isEmpty)
        return ValidationReport(
            isEqual: isEqual, rows: whole.destinationRows, sourceRows: whole.sourceRows,
            values: values, links: links, joinRows: whole.joinRows, indexEntries: entries,
            unequal: unequal,
            differences: unequal.isEmpty ? [] : try differences(in: Set(unequal), limit: limit),
            losses: Loss.sorted(whole.losses, renames: scope.intermediateRenames),
            inherited: inherited, newFaults: new, checks: whole.findings, notes: whole.notes)
    }
}

// Records of runs that ended before losses were counted have none.
extension KeyedDecodingContainer {
    func decode(_ type: [Loss].Type, forKey key: Key) throws -> [Loss] {
        try decodeIfPresent(type, forKey: key) ?? []
    }
}
