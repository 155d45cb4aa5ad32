package import ManagedObjectModel

/// What a migration policy says of itself before it runs: what it does to objects, so that a plan
/// can reserve keys and the validation knows what it may expect.
///
/// A policy is code of the app, the counterpart of a subclass of `NSEntityMigrationPolicy`.
package struct PolicyDeclaration: Hashable, Sendable, Codable {
    /// The name that mapping models use.
    package var className: String
    /// Names of attributes, of to-one relationships and of many-to-many relationships of the
    /// destination objects that its hooks set; what the mapping says of these does not count.
    package var sets: [String]
    /// What it makes beside the destination objects of its entity mapping.
    package var creates: [CreatedObjects]
    /// Names of attributes and relationships of the source objects that it carries on to wherever:
    /// they are no losses.
    package var carries: [String]
    /// Selectors that mapping models may call on it, such as `epoch` and `color:alpha:`.
    package var functions: [String]
    /// Whether its hooks are called although it sets and makes nothing.
    package var validates: Bool
    /// Whether equal source objects always give the same.
    package var isDeterministic: Bool
    /// Rises when the policy gives something else than before.
    package var version: Int

    package init(
        className: String, sets: [String] = [], creates: [CreatedObjects] = [],
        carries: [String] = [], functions: [String] = [], validates: Bool = false,
        isDeterministic: Bool = true, version: Int = 1
    ) {
        self.className = className
        self.sets = sets
        self.creates = creates
        self.carries = carries
        self.functions = functions
        self.validates = validates
        self.isDeterministic = isDeterministic
        self.version = version
    }

    /// What workers and stores call it: the class name with a hash of everything that it says, so
    /// that a policy of another version is another one.
    package var identity: String {
        // FNV-1a: the same on every machine.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ texts: [String]) {
            for byte in texts.joined(separator: "\u{1F}").utf8 + [0x1E] {
                hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
            }
        }
        add([className])
        add(sets)
        for created in creates { add([created.entity, String(created.most)] + created.key) }
        add(carries)
        add(functions)
        add([String(validates), String(isDeterministic), String(version)])
        let digits = String(hash, radix: 16)
        return "\(className)#\(String(repeating: "0", count: 16 - digits.count))\(digits)"
    }

    /// Whether it does more than to map values.
    package var hasHooks: Bool {
        !sets.isEmpty || !creates.isEmpty || validates || functions.isEmpty
    }
}

/// Objects of one entity that a policy makes.
package struct CreatedObjects: Hashable, Sendable, Codable {
    /// Name of the destination entity.
    package var entity: String
    /// The most of them for one source object; keys are reserved for as many.
    package var most: Int
    /// Attributes by whose values objects are found before they are made; empty for objects that
    /// are always made.
    package var key: [String]

    package init(entity: String, most: Int = 1, key: [String] = []) {
        self.entity = entity
        self.most = most
        self.key = key
    }

    /// The greatest `most`: keys of objects are 64-bit integers.
    package static let limit = 1 << 20
}

extension [PolicyDeclaration] {
    /// The policy of a class name.
    package func named(_ className: String) -> PolicyDeclaration? {
        first { $0.className == className }
    }
}

extension PolicyDeclaration {
    /// Why a policy cannot set an attribute; nil where it can.
    package static func refusal(of attribute: Attribute) -> String? {
        if attribute.isTransient { return "it is transient: no store holds its values" }
        if attribute.derivation != nil {
            return "it is derived: Core Data computes it when it saves an object"
        }
        if attribute.type == .composite { return "it is a composite attribute" }
        return nil
    }

    /// Why a policy cannot find objects by an attribute; nil where it can.
    package static func refusal(ofKey attribute: Attribute) -> String? {
        attribute.allowsExternalBinaryDataStorage
            ? "it can use external storage: objects are found by values in their rows"
            : refusal(of: attribute)
    }
}
