package import ManagedObjectModel
package import MappingModel
import MigrationPlans

/// The code of a migration policy, as the engine calls it; one value serves one job.
///
/// The engine hands it portions of a chunk. For each portion it calls the hooks in Core Data's
/// order: `begin`, `createDestinationInstances` for every object, `endInstanceCreation`,
/// `createRelationships` for every object, `endRelationshipCreation`, `validate` for every object,
/// `end`.
package protocol PolicyCode: AnyObject {
    /// Before the first object of a portion.
    func begin(_ portion: PolicyPortion) throws
    /// The destination object is there, with what the mapping says.
    func createDestinationInstances(_ object: PolicyObject, in portion: PolicyPortion) throws
    /// All destination objects of the portion are there.
    func endInstanceCreation(_ portion: PolicyPortion) throws
    /// Links the objects of the portion.
    func createRelationships(_ object: PolicyObject, in portion: PolicyPortion) throws
    /// All objects of the portion are linked.
    func endRelationshipCreation(_ portion: PolicyPortion) throws
    /// Refuses a destination object that is not right.
    func validate(_ object: PolicyObject, in portion: PolicyPortion) throws
    /// After the last object of a portion.
    func end(_ portion: PolicyPortion) throws
    /// The value of a method that a mapping calls.
    func value(of selector: String, arguments: [DefaultValue?]) throws -> DefaultValue?
}

/// A source object with the destination object that the entity mapping makes of it.
package struct PolicyObject: Hashable, Sendable {
    package let source: SourceObjectKey
    package let destination: MadeObject
}

/// An object of the source.
package struct SourceObjectKey: Hashable, Sendable {
    /// Name of exactly its entity.
    package let entity: String
    package let key: Int64
}

/// An object of the destination, as a policy refers to it.
package struct MadeObject: Hashable, Sendable {
    /// How it came there.
    package enum Origin: Hashable, Sendable {
        /// The entity mapping makes it.
        case mapped
        /// The policy inserts it.
        case inserted
        /// The policy finds or inserts it.
        case found
        /// An entity mapping makes it of another source object: it can be linked, and no more.
        case elsewhere
    }

    package let entity: String
    package let number: Int64
    package let table: String
    package let key: Int64
    package let origin: Origin
    /// The key of the source object that it comes of.
    package let source: Int64
}

/// The migration policies that a process carries.
package struct PolicyLibrary: Sendable {
    /// One policy.
    package struct Entry: Sendable {
        package let declaration: PolicyDeclaration
        /// Makes new code, for one job.
        let make: @Sendable () -> any PolicyCode

        package init(
            _ declaration: PolicyDeclaration, make: @escaping @Sendable () -> any PolicyCode
        ) {
            self.declaration = declaration
            self.make = make
        }
    }

    private let entries: [Entry]

    package init(_ entries: [Entry] = []) { self.entries = entries }

    /// What the policies say of themselves.
    package var declarations: [PolicyDeclaration] { entries.map(\.declaration) }

    /// A policy by the name of its class.
    func entry(_ className: String) -> Entry? {
        entries.first { $0.declaration.className == className }
    }

    /// New code of a policy.
    ///
    /// - Throws: `EngineError.policyMissing` for one that the process does not carry, or carries
    ///   in another version than the plan was made for.
    func code(
        _ className: String, _ declared: PolicyDeclaration?
    ) throws(EngineError) -> any PolicyCode {
        guard let entry = entry(className) else {
            throw .policyMissing(
                "this worker does not carry migration policy \(className). Start it from an "
                    + "executable that does")
        }
        guard declared == nil || declared == entry.declaration else {
            throw .policyMissing(
                "migration policy \(className) of this worker is another version than the plan was "
                    + "made for. Use the executable that the run was begun with, or cancel the run "
                    + "and begin a new one")
        }
        return entry.make()
    }
}
