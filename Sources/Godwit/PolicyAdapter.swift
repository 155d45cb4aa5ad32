import ManagedObjectModel
import MappingModel
package import MigrationEngine

extension MigrationPolicy {
    /// The policy as the engine knows it.
    package static var entry: PolicyLibrary.Entry {
        let effects = effects
        let declaration = PolicyDeclaration(
            className: className, sets: effects.sets, creates: effects.creates.map(\.declared),
            carries: effects.carries, functions: effects.answers,
            validates: effects.validates, isDeterministic: effects.isDeterministic,
            version: effects.version)
        return PolicyLibrary.Entry(declaration) { PolicyAdapter(Self()) }
    }
}

/// A policy behind the protocol of the engine.
private final class PolicyAdapter<Policy: MigrationPolicy>: PolicyCode {
    private var policy: Policy

    init(_ policy: Policy) { self.policy = policy }

    /// Calls the policy; the reason of its own failure reaches the report.
    private func call<Result>(
        _ portion: PolicyPortion, _ body: (MigrationContext) throws -> Result
    ) throws -> Result {
        do {
            return try body(MigrationContext(portion: portion))
        } catch let refusal as PolicyRefusal {
            throw PolicyFailure(refusal.reason.description)
        }
    }

    func begin(_ portion: PolicyPortion) throws {
        try call(portion) { try policy.begin(in: $0) }
    }

    func createDestinationInstances(_ object: PolicyObject, in portion: PolicyPortion) throws {
        try call(portion) {
            try policy.createDestinationInstances(
                for: $0.source(object), destination: $0.destination(object), in: $0)
        }
    }

    func endInstanceCreation(_ portion: PolicyPortion) throws {
        try call(portion) { try policy.endInstanceCreation(in: $0) }
    }

    func createRelationships(_ object: PolicyObject, in portion: PolicyPortion) throws {
        try call(portion) {
            try policy.createRelationships(
                for: $0.source(object), destination: $0.destination(object), in: $0)
        }
    }

    func endRelationshipCreation(_ portion: PolicyPortion) throws {
        try call(portion) { try policy.endRelationshipCreation(in: $0) }
    }

    func validate(_ object: PolicyObject, in portion: PolicyPortion) throws {
        try call(portion) {
            try policy.validate($0.destination(object), from: $0.source(object), in: $0)
        }
    }

    func end(_ portion: PolicyPortion) throws {
        try call(portion) { try policy.end(in: $0) }
    }

    func value(of selector: String, arguments: [DefaultValue?]) throws -> DefaultValue? {
        do {
            let values = arguments.map { value in value.map { Value($0) } }
            return try policy.value(for: selector, arguments: values)?.engineValue
        } catch let refusal as PolicyRefusal {
            throw PolicyFailure(refusal.reason.description)
        }
    }
}

extension MigrationContext {
    fileprivate func source(_ object: PolicyObject) -> SourceObject {
        SourceObject(portion: portion, object: object.source)
    }

    fileprivate func destination(_ object: PolicyObject) -> DestinationObject {
        DestinationObject(portion: portion, object: object.destination)
    }
}
