/// What happens to the destination when an object is deleted; raw values of `NSDeleteRule`.
package enum DeleteRule: Int, Hashable, Sendable, Codable {
    case noAction = 0
    case nullify = 1
    case cascade = 2
    case deny = 3
}

/// One relationship of an entity.
package struct Relationship: Hashable, Sendable, Codable {
    package var name: String
    package var isOptional: Bool
    package var isTransient: Bool
    package var isReadOnly: Bool
    /// Name of the destination entity.
    package var destination: String
    /// Name of the inverse, a relationship of the destination entity; nil where there is none.
    package var inverse: String?
    /// Objects at least, hashed as it stands; 0 where XML says nothing.
    package var minimumCount: Int32
    /// Objects at most: 1 is a to-one, anything else a to-many (0 as a rule, −1 occurs).
    package var maximumCount: Int32
    package var isOrdered: Bool
    package var deleteRule: DeleteRule
    package var isIndexedBySpotlight: Bool
    package var userInfo: [String: String]
    package var versionHashModifier: String?
    /// `renamingIdentifier` (`elementID` in XML); nil means the name.
    package var renamingIdentifier: String?

    /// Whether it leads to any number of objects.
    package var isToMany: Bool { maximumCount != 1 }

    /// An optional to-one unless told otherwise.
    package init(
        name: String, destination: String, inverse: String? = nil, isOptional: Bool = true,
        isTransient: Bool = false, isReadOnly: Bool = false, minimumCount: Int32 = 0,
        maximumCount: Int32 = 1, isOrdered: Bool = false, deleteRule: DeleteRule = .nullify,
        isIndexedBySpotlight: Bool = false, userInfo: [String: String] = [:],
        versionHashModifier: String? = nil, renamingIdentifier: String? = nil
    ) {
        self.name = name
        self.destination = destination
        self.inverse = inverse
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.isReadOnly = isReadOnly
        self.minimumCount = minimumCount
        self.maximumCount = maximumCount
        self.isOrdered = isOrdered
        self.deleteRule = deleteRule
        self.isIndexedBySpotlight = isIndexedBySpotlight
        self.userInfo = userInfo
        self.versionHashModifier = versionHashModifier
        self.renamingIdentifier = renamingIdentifier
    }
}
