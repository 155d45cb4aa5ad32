import CoreDataStore
import ManagedObjectModel

/// Decides how the objects of a relationship are linked.
struct LinkPlanner {
    let plan: ForgePlan

    private var model: Model { plan.layout.model }

    /// The plan of a to-one, or of the hidden key of a to-many without inverse, by the
    /// relationship's declarer and name.
    func link(_ key: PropertyKey) -> LinkPlan? {
        guard let relationship = plan.relationship(key) else { return nil }
        return relationship.isToMany
            ? hiddenKey(relationship, key) : toOne(relationship, key)
    }

    /// In the destination's table, leading back to the owner.
    private func hiddenKey(_ relationship: Relationship, _ key: PropertyKey) -> LinkPlan? {
        make(
            .many(perOwner: plan.recipe.linksPerObject), from: relationship.destination,
            to: key.entity, isRequired: false, salt: salt(key))
    }

    private func toOne(_ relationship: Relationship, _ key: PropertyKey) -> LinkPlan? {
        guard let (owner, inverse) = model.inverse(of: relationship),
            inverse.inverse == key.property
        else {
            return make(
                .many(perOwner: 1), from: key.entity, to: relationship.destination,
                isRequired: !relationship.isOptional, salt: salt(key))
        }
        let own = plan.narrower(key.entity, inverse.destination)
        let target = plan.narrower(relationship.destination, owner.name)
        let other = PropertyKey(owner.name, inverse.name)
        if inverse.isToMany {
            return make(
                .many(perOwner: plan.recipe.linksPerObject), from: own, to: target,
                isRequired: !relationship.isOptional, salt: salt(key))
        }
        let isSecond = other.description < key.description
        let required = !relationship.isOptional || !inverse.isOptional
        let shape: LinkScheme.Shape =
            if plan.slots(of: own) != plan.slots(of: target)
                || plan.table(of: own) != plan.table(of: target)
            {
                .pair
            } else if key == other {
                .mutual
            } else {
                isSecond ? .previous : .next
            }
        return make(
            shape, from: own, to: target, isRequired: required,
            salt: salt(isSecond ? other : key), isSecond: isSecond)
    }

    private func salt(_ key: PropertyKey) -> UInt64 {
        ForgeHash.salt(plan.recipe.seed, "link \(key)")
    }

    private func make(
        _ shape: LinkScheme.Shape, from own: String, to target: String, isRequired: Bool,
        salt: UInt64, isSecond: Bool = false
    ) -> LinkPlan? {
        guard let table = plan.table(of: target), let number = plan.layout.number(of: target)
        else { return nil }
        let isSameTable = plan.table(of: own) == table
        let (owners, targets) = (plan.slots(of: own), plan.slots(of: target))
        let isSameSet = isSameTable && owners == targets
        var shape = shape
        // With one object each, everything would own itself.
        if case .many(let perOwner) = shape, isSameSet { shape = .many(perOwner: max(2, perOwner)) }
        let scheme = LinkScheme(
            shape: shape, own: owners, targets: targets, isSameSet: isSameSet,
            isRequired: isRequired, linked: Share(plan.recipe.linkShare),
            dangling: Share(plan.recipe.danglingShare), salt: salt, isSecond: isSecond)
        return LinkPlan(scheme: scheme, table: table, destination: Int64(number))
    }
}

/// Collects the links of one table, each once.
struct LinkCollector {
    let plan: ForgePlan
    private(set) var links: [LinkPlan] = []
    private var places: [PropertyKey: Int] = [:]

    init(plan: ForgePlan) { self.plan = plan }

    /// The place of a link in the list; −1 for what is no link.
    mutating func place(of key: PropertyKey) -> Int {
        if let place = places[key] { return place }
        guard let link = LinkPlanner(plan: plan).link(key) else { return -1 }
        places[key] = links.count
        links.append(link)
        return links.count - 1
    }
}
