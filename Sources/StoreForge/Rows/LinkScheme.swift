/// Which objects a to-one leads to, computed from indexes alone, so that both ends of a
/// relationship agree without either being kept.
struct LinkScheme {
    enum Shape: Hashable {
        /// Many objects to one owner, this many at a time.
        case many(perOwner: Int)
        /// One object to one object of another set.
        case pair
        /// One object to the next one of the same set.
        case next
        /// The inverse of `next`.
        case previous
        /// Two objects of the same set to each other.
        case mutual
    }

    /// What a to-one holds.
    enum Target {
        case none
        case dangling(UInt64)
        /// The target's slot, and the place in the owner's list.
        case object(slot: Int, position: Int)
    }

    let shape: Shape
    /// Slots that have the to-one.
    let own: Range<Int>
    /// Slots that it may lead to.
    let targets: Range<Int>
    /// Whether both are the same objects.
    let isSameSet: Bool
    let isRequired: Bool
    let linked: Share
    let dangling: Share
    let salt: UInt64
    private let ownOrder: Permutation
    private let targetOrder: Permutation

    /// Makes the scheme of one side of a pair of relationships.
    ///
    /// Both sides have the same salt; the second one gets the first one's permutations swapped.
    init(
        shape: Shape, own: Range<Int>, targets: Range<Int>, isSameSet: Bool, isRequired: Bool,
        linked: Share, dangling: Share, salt: UInt64, isSecond: Bool = false
    ) {
        self.shape = shape
        self.own = own
        self.targets = targets
        self.isSameSet = isSameSet
        self.isRequired = isRequired
        self.linked = linked
        self.dangling = dangling
        self.salt = salt
        let first = ForgeHash.mix(salt ^ 1)
        let second = isSameSet ? first : ForgeHash.mix(salt ^ 2)
        ownOrder = Permutation(count: own.count, salt: isSecond ? second : first)
        targetOrder = Permutation(count: targets.count, salt: isSecond ? first : second)
    }

    /// What the to-one of an object holds.
    func target(ofSlot slot: Int) -> Target {
        guard own.contains(slot), !targets.isEmpty else { return .none }
        let place = ownOrder.forward(slot - own.lowerBound)
        switch shape {
        case .many(let perOwner): return many(place, perOwner)
        case .pair:
            guard place < targets.count, isLinked(place) else { return .none }
            return object(place, position: 0)
        case .next:
            guard place + 1 < own.count, isLinked(place) else { return .none }
            return object(place + 1, position: 0)
        case .previous:
            guard place > 0, isLinked(place - 1) else { return .none }
            return object(place - 1, position: 0)
        case .mutual:
            guard place ^ 1 < own.count, isLinked(place | 1) else { return .none }
            return object(place ^ 1, position: 0)
        }
    }

    private func many(_ place: Int, _ perOwner: Int) -> Target {
        let hash = ForgeHash.number(salt, place)
        guard isRequired || linked.contains(hash) else { return .none }
        let other = ForgeHash.mix(hash)
        if dangling.contains(other) { return .dangling(other) }
        if isSameSet {
            // Owners come before what they own: a forest. A required owner of the first is itself.
            guard place > 0 || isRequired else { return .none }
            return object(place / perOwner, position: place % perOwner)
        }
        let list = place / perOwner
        let round = list / targets.count
        return object(
            list % targets.count, position: round * perOwner + place % perOwner)
    }

    private func isLinked(_ place: Int) -> Bool {
        isRequired || linked.contains(ForgeHash.number(salt, place))
    }

    private func object(_ place: Int, position: Int) -> Target {
        .object(slot: targets.lowerBound + targetOrder.backward(place), position: position)
    }

    /// How many objects lead to a target; for `many` alone.
    func count(ofTarget slot: Int) -> Int {
        guard case .many(let perOwner) = shape, targets.contains(slot) else { return 0 }
        var list = targetOrder.forward(slot - targets.lowerBound)
        var count = 0
        while list * perOwner < own.count {
            for place in (list * perOwner)..<min(own.count, (list + 1) * perOwner) {
                if case .object = many(place, perOwner) { count += 1 }
            }
            if isSameSet { break }
            list += targets.count
        }
        return count
    }
}
