import CoreDataStore
import SafeSQLite

/// Writes links between objects that both exist.
final class LinkWriter {
    private let connection: Connection
    private let places: PlaceRegister
    private var foreign: [ForeignColumns: ForeignStatements] = [:]
    private var joins: [JoinColumns: JoinStatements] = [:]

    init(_ connection: Connection) {
        self.connection = connection
        places = PlaceRegister(connection)
    }

    /// Links two objects; what they were linked to before is let go where only one may be.
    ///
    /// - Parameters:
    ///   - source: the object that has the relationship.
    ///   - relationship: of the source.
    ///   - target: where it leads.
    ///   - place: in the source's list, if that is ordered; nil for the end.
    ///   - inversePlace: of the source in the target's list, likewise.
    /// - Throws: `StoreError` with SQLite's reason.
    func link(
        _ source: ObjectReference, _ relationship: ImportedRelationship,
        to target: ObjectReference, place: Int64?, inversePlace: Int64? = nil
    ) throws(StoreError) {
        switch relationship.storage {
        case .toOne(let own, let inverse):
            let own = try statements(own)
            if let inverse {
                let inverse = try statements(inverse)
                if let partner = try own.owner(of: source.key) { try inverse.set(partner, to: nil) }
                if let partner = try inverse.owner(of: target.key) { try own.set(partner, to: nil) }
                try inverse.set(target.key, to: source)
            }
            // The end of the target's list is for those that are not in it.
            let isThere = try own.owner(of: source.key) == target.key
            try own.set(source.key, to: target, place: isThere ? nil : inversePlace)
        case .toMany(let columns):
            try statements(columns).set(target.key, to: source, place: place)
        case .join(let columns):
            try statements(columns).add(
                source.key, target.key, place: place, inversePlace: inversePlace)
        }
    }

    /// Lets a to-one lead nowhere.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    func unlink(
        _ source: ObjectReference, _ relationship: ImportedRelationship
    ) throws(StoreError) {
        guard case .toOne(let columns, let inverse) = relationship.storage else { return }
        let own = try statements(columns)
        if let inverse, let partner = try own.owner(of: source.key) {
            try statements(inverse).set(partner, to: nil)
        }
        try own.set(source.key, to: nil)
    }

    /// Whether a link that waited would take the place of one that was made meanwhile.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    func isTaken(
        _ source: ObjectReference, _ relationship: ImportedRelationship,
        by target: ObjectReference
    ) throws(StoreError) -> Bool {
        switch relationship.storage {
        case .toOne(let own, let inverse):
            if let found = try statements(own).owner(of: source.key) { return found != target.key }
            guard let inverse else { return false }
            return try statements(inverse).owner(of: target.key) != nil
        case .toMany(let columns):
            guard let found = try statements(columns).owner(of: target.key) else { return false }
            return found != source.key
        case .join: return false
        }
    }

    /// The next free place of an owner's ordered list; nil for a list without order.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    func nextPlace(
        of owner: Int64, _ relationship: ImportedRelationship
    ) throws(StoreError) -> Int64? {
        switch relationship.storage {
        case .toOne: nil
        case .toMany(let columns):
            columns.order == nil ? nil : try statements(columns).places?.next(of: owner)
        case .join(let columns):
            columns.order == nil ? nil : try statements(columns).places?.next(of: owner)
        }
    }

    private func statements(_ columns: ForeignColumns) throws(StoreError) -> ForeignStatements {
        if let known = foreign[columns] { return known }
        let made = try ForeignStatements(columns, places, connection)
        foreign[columns] = made
        return made
    }

    private func statements(_ columns: JoinColumns) throws(StoreError) -> JoinStatements {
        if let known = joins[columns] { return known }
        let made = try JoinStatements(columns, places, connection)
        joins[columns] = made
        return made
    }
}
