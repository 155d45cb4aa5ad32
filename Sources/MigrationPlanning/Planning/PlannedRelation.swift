import CoreDataStore
import MigrationPlans

/// One end of a relation while a plan is made.
struct PlannedEnd {
    var end: RelationEnd
    /// Places of the entity mappings whose objects stand there.
    var passes: Set<Int>
    /// Two entity mappings that both make an object of one source object; nil where none do.
    var doubled: [String]?
}

/// A source relation while a plan is made: what the entity mappings have to do with it.
struct PlannedRelation {
    let name: String
    /// The destination relationship that states the links, by the entity that declares it.
    let destination: PropertyKey
    let storage: RelationStorage
    let owner: PlannedEnd
    let target: PlannedEnd
    /// Whether the owner is the target of the stated links.
    var isTurned = false
    /// Whether other links of the same source relationship come by another relation.
    var isRest = false
    /// For a rest: two entity mappings that make an object of one source object, at least one of
    /// which leaves the links to the other end; nil where none do.
    var sharing: [String]?

    /// The relation as plans have it.
    var relation: SourceRelation {
        SourceRelation(name: name, storage: storage, owner: owner.end, target: target.end)
    }

    /// The same links seen from the other end.
    var flipped: PlannedRelation {
        let turned: RelationStorage =
            switch storage {
            case .ownerColumn(let table, let key, let entity, let ownerOrder):
                .targetColumn(table: table, key: key, entity: entity, targetOrder: ownerOrder)
            case .targetColumn(let table, let key, let entity, let targetOrder):
                .ownerColumn(table: table, key: key, entity: entity, ownerOrder: targetOrder)
            case .path(let table, let path, let isFlipped):
                // Both ends of links between objects of one source object are its row.
                .path(table: table, path, isFlipped: path.steps.isEmpty ? false : !isFlipped)
            case .join(let table, let owner, let target, let ownerOrder, let targetOrder):
                .join(
                    table: table, owner: target, target: owner, ownerOrder: targetOrder,
                    targetOrder: ownerOrder)
            }
        return PlannedRelation(
            name: name, destination: destination, storage: turned, owner: target, target: owner,
            isTurned: !isTurned)
    }

    /// Refuses to link an object by a to-one relationship to two that come of it itself.
    ///
    /// - Parameter linked: gets the numbers of source objects that have such a link.
    /// - Throws: `PlanError.unsupported` with the way out.
    func refuseSecondLinks(_ linked: inout Set<Int64>) throws(PlanError) {
        guard case .path(_, let path, _) = storage, path.steps.isEmpty else { return }
        let kept = [owner, target].map { end in
            Set(end.end.targets.filter { $0.place != nil }.map(\.sourceNumber))
        }
        let own = kept[0].intersection(kept[1])
        guard linked.isDisjoint(with: own) else {
            throw .unsupported(
                "\(destination) or its inverse is to-one, but several entity mappings link the "
                    + "objects that they make from one source object. Give these mappings filters "
                    + "that exclude each other, or make the relationship to-many")
        }
        linked.formUnion(own)
    }

    /// Refuses places that would have to be made up for lists of which other relations feed a part.
    ///
    /// - Throws: `PlanError.unsupported` with the way out.
    func refuseNewPlaces() throws(PlanError) {
        guard isRest else { return }
        throw .unsupported(
            "Godwit must choose the order of the objects in \(destination), but only some entity "
                + "mappings specify the links of \(name). Specify them in all of these, or in none")
    }

    /// Refuses links to objects of which there are two.
    ///
    /// - Throws: `PlanError.unsupported` with the way out.
    func refuseDoubledTargets() throws(PlanError) {
        try refuse(target.doubled, areTargets: !isTurned)
    }

    /// Refuses links of objects of which there are two, where a link can have one owner alone.
    ///
    /// - Throws: `PlanError.unsupported` with the way out.
    func refuseDoubledOwners() throws(PlanError) {
        try refuse(owner.doubled, areTargets: isTurned || isRest)
    }

    /// `areTargets`: whether links of the stated relationship lead to the objects.
    private func refuse(_ names: [String]?, areTargets: Bool) throws(PlanError) {
        guard let names else { return }
        let source = name.split(separator: ".").last.map { isRest ? "…" : "$source.\($0)" } ?? "…"
        throw .unsupported(
            areTargets
                ? "entity mappings \(names[0]) and \(names[1]) both make the objects that the "
                    + "links of \(name) lead to. In \(destination), name one of them, as in "
                    + "{source: \(source), mapping: \(names[0])}"
                : "entity mappings \(names[0]) and \(names[1]) both make objects that have the "
                    + "links of \(name), but only one object can have them. Leave \(destination) "
                    + "unset in one of them")
    }

    /// Refuses links of objects that would stand in one place of an ordered list.
    ///
    /// - Throws: `PlanError.unsupported` with the way out.
    func refuseSharedPlaces() throws(PlanError) {
        guard let names = sharing else { return }
        throw .unsupported(
            "entity mappings \(names[0]) and \(names[1]) both make the objects that have the links "
                + "of \(name), and both would have the same place in \(destination). In "
                + "\(destination), name one of them, as in {source: …, mapping: \(names[0])}")
    }
}
