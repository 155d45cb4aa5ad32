import SafeSQLite
import StorePages
import Synchronization

/// How records of the tables and indexes of one schema are read, worked out once for all files that
/// have it.
///
/// Root pages are not part of it: they differ from file to file.
final class PageShapes: Sendable {
    /// What is read of a table or an index.
    struct Key: Hashable, Sendable {
        let kind: SchemaObject.Kind
        let name: String
        /// Columns whose values are wanted.
        let values: [String]
        /// Columns that are tested for null.
        let tests: [String]
    }

    /// The places of objects in the schema, by name.
    let places: NamePlaces
    /// Nil for what SQLite must read.
    private let made = Mutex<[Key: RecordShape?]>([:])

    /// The most shapes that are kept.
    private static let limit = 4_096

    private let objects: [SchemaObject]

    init(_ schema: StoreSchema) {
        objects = schema.objects
        places = NamePlaces(objects.map(\.name))
    }

    /// Whether a schema, equal to the one it was made of, is so byte by byte: equal texts of Swift
    /// may be two names to SQLite.
    func isExact(_ schema: StoreSchema) -> Bool {
        objects.count == schema.objects.count
            && zip(objects, schema.objects).allSatisfy { one, other in
                one.name.isExactly(other.name) && (one.sql ?? "").isExactly(other.sql ?? "")
            }
    }

    /// The shape of a key, made where it is not known.
    ///
    /// - Throws: what `make` throws.
    func shape<Failure: Error>(
        _ key: Key, make: () throws(Failure) -> RecordShape?
    ) throws(Failure) -> RecordShape? {
        if let known = made.withLock({ $0[key] }) { return known }
        let shape = try make()
        made.withLock { made in
            if made.count < Self.limit { made.updateValue(shape, forKey: key) }
        }
        return shape
    }
}
