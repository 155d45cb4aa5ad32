package import ManagedObjectModel

/// The keyed archive of an `NSManagedObjectModel`, as `.mom` files hold it and, compressed, the
/// table `Z_MODELCACHE` of a store.
package enum ModelArchive {
    /// Reads an archive; the bytes may be anything.
    ///
    /// What a `Model` has no place for is left out: validation predicates, fetch requests,
    /// user info that is no text, and default values of an app's own classes.
    ///
    /// - Throws: `ModelError.malformed` where the bytes are no such archive or contradict
    ///   themselves, `ModelError.unsupported` for what a later Core Data may have added and for
    ///   names that Core Data cannot store.
    package static func read(_ bytes: [UInt8]) throws(ModelError) -> Model {
        var reader = ModelArchiveReader(archive: try KeyedArchive(bytes))
        let model = try reader.model()
        try ModelNames.check(model)
        return model
    }

    /// Writes an archive with the keys and classes that Core Data writes; equal models give
    /// equal bytes.
    ///
    /// Inherited properties are repeated in sub-entities, as Core Data does. Fetched properties
    /// are written without their fetch request, which a `Model` does not keep. An attribute
    /// without a value class gets the usual one of its type. The key for the elements of
    /// composite attributes is a guess, as no archive with one is known.
    ///
    /// - Throws: `ModelError.unsupported` for a predicate or an expression that is known only
    ///   as text, and for a model of more than `KeyedArchive.itemLimit` properties.
    package static func write(_ model: Model) throws(ModelError) -> [UInt8] {
        var writer = ModelArchiveWriter(model: model)
        return try writer.write()
    }
}

/// The classes of property descriptions.
enum ArchivedClass {
    static let model = "NSManagedObjectModel"
    static let entity = "NSEntityDescription"
    static let attribute = "NSAttributeDescription"
    static let derivedAttribute = "NSDerivedAttributeDescription"
    static let compositeAttribute = "NSCompositeAttributeDescription"
    static let relationship = "NSRelationshipDescription"
    static let fetchedProperty = "NSFetchedPropertyDescription"
    /// Stands for an inherited property in archives of fw 640–641.
    static let propertyProxy = "_NSPropertyDescriptionProxy"
    static let expressionProperty = "NSExpressionDescription"
    static let fetchIndex = "NSFetchIndexDescription"
    static let fetchIndexElement = "NSFetchIndexElementDescription"
}

/// Bits of `NSFlagsKey`.
enum ArchivedAttributeFlag {
    static let allowsExternalBinaryDataStorage: Int64 = 4
    static let preservesValueInHistoryOnDeletion: Int64 = 16
}
