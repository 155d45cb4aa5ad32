import CoreDataStore

/// Finds objects of a result that neither its model nor its source explains: somebody added them.
///
/// An index that is not unique cannot change what Core Data reads or writes; migrations in place
/// leave many behind (format page §11), so that they are not looked at.
struct SurplusObjects {
    /// The source's schema, whose objects the app keeps.
    let known: StoreSchema
    /// Of the result.
    let layout: StoreLayout

    private static let history = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]

    /// Names of surplus tables, views, triggers and unique indexes, in words.
    func find(in schema: StoreSchema) -> [String] {
        var candidates = SchemaExtras.find(in: schema, layout: layout)
        candidates += schema.objects.filter { object in
            switch object.kind {
            case .table: Self.history.contains(object.name)
            case .trigger: Self.history.contains(object.table)
            case .index, .view: false
            }
        }
        return candidates.compactMap { object in
            guard !object.name.hasPrefix("sqlite_") else { return nil }
            if object.kind == .index, !isUnique(object) { return nil }
            guard let original = known.object(object.kind, object.name) else {
                return "surplus \(object.kind.rawValue) \(object.name)"
            }
            return isMade(object, from: original)
                ? nil : "\(object.kind.rawValue) \(object.name) is another one"
        }
    }

    /// Whether an object's text is the first statement of another one's; SQLite keeps no more of
    /// a text of several.
    private func isMade(_ object: SchemaObject, from original: SchemaObject) -> Bool {
        let texts = [object, original].map { words($0).joined(separator: " ") }
        return texts[0] == texts[1] || texts[1].hasPrefix(texts[0] + ";")
            || texts[1].hasPrefix(texts[0] + " ;")
    }

    private func isUnique(_ index: SchemaObject) -> Bool {
        words(index).prefix(2).last?.uppercased() == "UNIQUE"
    }

    private func words(_ object: SchemaObject) -> [Substring] {
        (object.sql ?? "").split(whereSeparator: \.isWhitespace)
    }
}
