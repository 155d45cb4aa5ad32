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

        /// Byte by byte: names that Unicode calls equivalent are two to SQLite.
        static func == (left: Key, right: Key) -> Bool {
            left.kind == right.kind && left.name.isExactly(right.name)
                && areExact(left.values, right.values) && areExact(left.tests, right.tests)
        }

        private static func areExact(_ left: [String], _ right: [String]) -> Bool {
            left.count == right.count && zip(left, right).allSatisfy { $0.isExactly($1) }
        }
    }

    /// The places of objects in the schema, by name.
    let places: NamePlaces
    /// Nil for what SQLite must read.
    private let made = Mutex<[Key: RecordShape?]>([:])

    /// The most shapes that are kept.
    private static let limit = 4_096

    init(_ schema: StoreSchema) { places = NamePlaces(schema.objects.map(\.name)) }

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
