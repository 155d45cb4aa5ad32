/// A migration policy: the server's counterpart of a subclass of `NSEntityMigrationPolicy`.
///
/// Godwit makes the destination object of every source object as the mapping model says, and then
/// calls the hooks. It does so for portions of at most 256 objects; for each portion it calls them
/// in Core Data's order: ``begin(in:)``, ``createDestinationInstances(for:destination:in:)`` for
/// every object, ``endInstanceCreation(in:)``, ``createRelationships(for:destination:in:)`` for
/// every object, ``endRelationshipCreation(in:)``, ``validate(_:from:in:)`` for every object,
/// ``end(in:)``. Different portions may run in different processes, in any order, and again after a
/// failure: what a policy keeps from one portion must not change what it makes of another.
///
/// A policy whose ``effects`` name ``PolicyEffects/answers`` alone maps values: Godwit calls
/// ``value(for:arguments:)`` from SQL and no hook.
///
/// Throw ``PolicyRefusal`` to fail: the chunk fails, the report names the policy and the URI of
/// the object, and the original store stays as it is.
public protocol MigrationPolicy: SendableMetatype {
    /// The name that mapping models use, with the module of a Swift class: `App.NotePolicy`.
    static var className: String { get }
    /// What the policy does.
    static var effects: PolicyEffects { get }

    /// Makes a policy for one job.
    init()

    /// Before the first object of a portion.
    mutating func begin(in context: MigrationContext) throws
    /// The destination object has the values and links of the mapping model.
    mutating func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws
    /// The destination objects of the portion are there.
    mutating func endInstanceCreation(in context: MigrationContext) throws
    /// Links the objects.
    mutating func createRelationships(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws
    /// The objects of the portion are linked.
    mutating func endRelationshipCreation(in context: MigrationContext) throws
    /// Throws for a destination object that is not right.
    mutating func validate(
        _ destination: DestinationObject, from source: SourceObject, in context: MigrationContext
    ) throws
    /// After the last object of a portion.
    mutating func end(in context: MigrationContext) throws
    /// Answers `FUNCTION($entityPolicy, "selector:", …)` of the mapping model.
    mutating func value(for selector: String, arguments: [Value?]) throws -> Value?
}

extension MigrationPolicy {
    /// The name of the type, without its module.
    public static var className: String { String(describing: Self.self) }

    /// Does nothing.
    public mutating func begin(in context: MigrationContext) throws {}
    /// Does nothing: the mapping model says all.
    public mutating func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {}
    /// Does nothing.
    public mutating func endInstanceCreation(in context: MigrationContext) throws {}
    /// Does nothing: the mapping model says all.
    public mutating func createRelationships(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {}
    /// Does nothing.
    public mutating func endRelationshipCreation(in context: MigrationContext) throws {}
    /// Accepts the object.
    public mutating func validate(
        _ destination: DestinationObject, from source: SourceObject, in context: MigrationContext
    ) throws {}
    /// Does nothing.
    public mutating func end(in context: MigrationContext) throws {}
    /// Refuses: a policy that answers selectors has its own.
    public mutating func value(for selector: String, arguments: [Value?]) throws -> Value? {
        throw PolicyRefusal("it answers no selectors")
    }
}
