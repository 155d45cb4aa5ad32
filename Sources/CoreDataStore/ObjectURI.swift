/// The URI by which Core Data names an object, as `NSManagedObjectID.uriRepresentation()` gives it.
package struct ObjectURI: Hashable, Sendable, CustomStringConvertible {
    /// `Z_UUID` of the store's metadata.
    package let store: String
    package let entity: String
    package let key: Int64

    package init(store: String, entity: String, key: Int64) {
        self.store = store
        self.entity = entity
        self.key = key
    }

    package var description: String { "x-coredata://\(store)/\(entity)/p\(key)" }
}
