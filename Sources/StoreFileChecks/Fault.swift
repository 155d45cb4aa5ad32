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
    package init(_ label: String, _ kind: Kind) {
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

extension [Fault: FaultCount] {
    /// Counts a fault so many times more on each side.
    package mutating func add(_ fault: Fault, source: Int64 = 0, destination: Int64 = 0) {
        self[fault, default: FaultCount()].source += source
        self[fault, default: FaultCount()].destination += destination
    }
}
