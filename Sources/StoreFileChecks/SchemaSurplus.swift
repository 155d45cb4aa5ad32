import CoreDataStore
package import SafeSQLite

/// What a file's schema has beyond its layout; it follows from the two alone.
package struct SchemaSurplus: Sendable {
    /// Rules in the declarations of the model's tables, in words.
    let rules: [String]
    /// Tables, views, triggers and unique indexes that neither the model nor Core Data explains.
    ///
    /// An index that is not unique cannot change what Core Data reads or writes; migrations in
    /// place leave many behind, so that they are not among them.
    let objects: [SchemaObject]

    private static let history = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]

    init(_ schema: StoreSchema, layout: StoreLayout) {
        rules = ConstraintCheck(layout: layout, schema: schema).surplus()
        let historical = schema.objects.filter { object in
            switch object.kind {
            case .table: Self.history.contains(object.name)
            case .trigger: Self.history.contains(object.table)
            case .index, .view: false
            }
        }
        objects = (SchemaExtras.find(in: schema, layout: layout) + historical).filter { object in
            !object.name.hasPrefix("sqlite_") && (object.kind != .index || Self.isUnique(object))
        }
    }

    /// The objects that a source does not have: a program added or changed them.
    package func unexplained(by source: StoreSchema) -> [String] {
        objects.compactMap { object in
            guard let original = source.object(object.kind, object.name) else {
                return "surplus \(object.kind.rawValue) \(object.name)"
            }
            return Self.isMade(object, from: original)
                ? nil : "\(object.kind.rawValue) \(object.name) differs from the expected one"
        }
    }

    /// Whether an object's text is the first statement of another one's; SQLite keeps no more of
    /// a text of several.
    private static func isMade(_ object: SchemaObject, from original: SchemaObject) -> Bool {
        let (made, given) = (spaced(object), spaced(original))
        let end = UInt8(ascii: ";")
        return made == given || given.starts(with: made + [end])
            || given.starts(with: made + [UInt8(ascii: " "), end])
    }

    private static func isUnique(_ index: SchemaObject) -> Bool {
        let words = StatementWords.of(index.sql ?? "").prefix(2)
        return words.last.map { String(decoding: $0, as: UTF8.self).uppercased() } == "UNIQUE"
    }

    private static func spaced(_ object: SchemaObject) -> [UInt8] {
        Array(StatementWords.of(object.sql ?? "").joined(separator: [UInt8(ascii: " ")]))
    }
}
