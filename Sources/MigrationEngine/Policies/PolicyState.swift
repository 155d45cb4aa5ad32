import CoreDataStore
import MigrationPlans

/// Which hook a policy is in, which object it has in hand, and what went wrong.
final class PolicyState {
    /// The hooks for one object, by what they may do.
    enum Hook: Hashable {
        case create, relate, validate
    }

    /// The object that a hook is called for; nil in the hooks for whole portions.
    private(set) var current: PolicyObject?
    private(set) var hook: Hook?
    /// The objects that were found and are new, while the policy gives them their values.
    private var configured: [MadeObject] = []
    /// How many objects of each block were asked for, for the current object.
    var places: [Int: Int64] = [:]
    /// A list of one object.
    struct List: Hashable {
        let holder: Int64
        let table: String
        let relationship: PropertyKey
    }

    /// How many objects were put into lists of the portion's objects.
    private var lists: [List: Int64] = [:]
    /// In which hook each block's objects are found: in one alone, so that the lowest source object
    /// always comes first.
    private var findingHooks: [Int: Hook] = [:]
    /// What failed first: a policy that continues after it does not repair it.
    private(set) var failure: (any Error)?

    /// Begins with a portion.
    func begin() { lists.removeAll(keepingCapacity: true) }

    /// The place of the next object in a list: the first is 2048, the step 1024.
    func nextPlace(in list: List) -> Int64 { 2048 + 1024 * lists[list, default: 0] }

    /// Counts an object that was put into a list.
    func take(_ list: List) { lists[list, default: 0] += 1 }

    /// Whether an object comes of the source object in hand, and of no other one.
    func isOwn(_ object: MadeObject) -> Bool {
        switch object.origin {
        case .mapped, .inserted: object.source == current?.source.key
        case .found, .elsewhere: false
        }
    }

    /// Begins with an object in one of its hooks.
    func turn(to object: PolicyObject, _ hook: Hook) {
        current = object
        self.hook = hook
        places.removeAll(keepingCapacity: true)
    }

    /// Begins with a hook for the whole portion.
    func turnToPortion() {
        current = nil
        hook = nil
        places.removeAll(keepingCapacity: true)
    }

    /// Does something for the policy, and keeps the first failure.
    func keeping<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            if failure == nil { failure = error }
            throw error
        }
    }

    /// The source object for which objects can be made.
    ///
    /// - Parameters:
    ///   - number: of the block.
    ///   - finds: whether objects are found.
    /// - Returns: the source object.
    /// - Throws: `PolicyFailure` in hooks that make none.
    func maker(of number: Int, finds: Bool) throws -> SourceObjectKey {
        guard let current, let hook, hook != .validate else {
            throw PolicyFailure(
                "it makes objects outside of createDestinationInstances and createRelationships")
        }
        if finds {
            guard findingHooks[number, default: hook] == hook else {
                throw PolicyFailure("it finds objects of one entity in two hooks: find them in one")
            }
            findingHooks[number] = hook
        }
        return current.source
    }

    /// Lets a policy give a new object that it found its values.
    func configure(_ object: MadeObject, _ body: () throws -> Void) throws {
        configured.append(object)
        defer { configured.removeLast() }
        try body()
    }

    /// Refuses a change of an object that other source objects may change, too.
    func expectOwn(_ object: MadeObject) throws {
        guard hook != .validate else {
            throw PolicyFailure("it changes objects while it validates")
        }
        switch object.origin {
        case .found:
            guard configured.contains(object) else {
                throw PolicyFailure(
                    "it changes an object of \(object.entity) that it found: it can change "
                        + "only a new one, in the closure of findOrInsert")
            }
        case .mapped, .inserted:
            guard isOwn(object) else {
                throw PolicyFailure(
                    "it changes an object of \(object.entity) that belongs to another source object"
                )
            }
        case .elsewhere: return
        }
    }
}
