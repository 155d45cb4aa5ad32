package import ManagedObjectModel

/// The names in a model: what a mapping file of Xcode keeps of the models that it was made for.
package struct ModelOutline: Hashable, Sendable, Codable {
    /// One entity by the names that it declares itself.
    package struct Entity: Hashable, Sendable, Codable {
        /// Names of attributes, relationships and fetched properties.
        package let properties: Set<String>
        /// Name of the parent entity; nil for a root.
        package let parent: String?

        package init(properties: Set<String>, parent: String?) {
            self.properties = properties
            self.parent = parent
        }
    }

    /// By name.
    package let entities: [String: Entity]

    package init(entities: [String: Entity]) { self.entities = entities }

    /// Names of the entities that a model has and this one lacks, or the other way round, or whose
    /// declared properties or parents differ; sorted.
    package func differences(from model: Model) -> [String] {
        Set(entities.keys).union(model.entities.keys).filter { name in
            guard let own = entities[name], let other = model.entities[name] else { return true }
            return other.parent != own.parent || own.properties != Set(other.propertyNames)
        }.sorted()
    }
}
