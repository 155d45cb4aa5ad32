import CoreDataStore
package import DurableFiles
package import SafeSQLite

/// Why an import ended before its end.
///
/// Whatever it is, the store holds every batch that was finished, and the same command resumes
/// behind it. Messages quote names of the model, never values of objects.
package enum ImportError: StoreAccessError, Hashable, Sendable {
    /// The folder of parts cannot be used as it is.
    case parts(path: String, reason: String)
    /// A line of a part is no object of the model.
    ///
    /// `resumesAt` is the first line of its batch, of which nothing was kept.
    case line(part: String, line: Int, reason: String, resumesAt: Int)
    /// A part is no longer the file of which lines were imported.
    case changedPart(path: String, line: Int)
    /// A part has the number of one that is imported already, and other contents.
    case otherPart(path: String, number: Int)
    /// The model has no such attribute for a key; `hint` names the nearest ones.
    case unknownKey(entity: String, attribute: String, hint: String)
    /// The import began with other keys: attributes by entities.
    case otherKeys(store: String, keys: [String: String])
    /// A store that does not exist needs a model.
    case noModel(store: String)
    /// The store has another version of the model; differing entities.
    case otherVersion(store: String, entities: [String])
    /// The store cannot be imported into.
    case refused(store: String, reason: String)
    /// Objects to which relationships lead are in no part.
    case unresolved(store: String, count: Int64, first: String)
    /// All parts are imported, but objects break rules of the model.
    case incomplete(store: String, faults: [String])
    case store(StoreError)
    case file(DurableFileError)
    /// Something that must hold did not; the text says what.
    case internalError(String)
}

extension ImportError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .parts(let path, let reason): "\(path): \(reason)"
        case .line(let part, let line, let reason, let resumesAt):
            "\(part) line \(line): \(reason)\(reason.hasSuffix("?") ? "" : ".") "
                + (resumesAt > 1
                    ? "Nothing from line \(resumesAt) on was imported; all before it is kept"
                    : "Nothing of this part was imported")
                + ". Repair the cause and run the same command again"
        case .changedPart(let path, let line):
            "\(path) changed after \(line) of its lines were imported. Put the old file back "
                + "and run the same command again"
        case .otherPart(let path, let number):
            "\(path): part \(number) was already imported with other content. Give new parts new "
                + "numbers"
        case .unknownKey(let entity, let attribute, let hint):
            "the model has no attribute \(entity).\(attribute)\(hint)"
        case .otherKeys(let store, _):
            "\(store): the import began with other keys. Resume it with its original keys"
        case .noModel(let store): "\(store) does not exist, and no model is given"
        case .refused(let store, let reason): "\(store): \(reason). It is unchanged"
        case .unresolved(let store, let count, let first):
            "\(store): all parts are imported, but "
                + (count == 1 ? "1 link leads to an object" : "\(count) links lead to objects")
                + " in no part. The first is \(first). Add a part with what is missing and run the "
                + "same command again"
        case .incomplete(let store, let faults):
            "\(store): all parts are imported, but objects break rules of the model: "
                + "\(faults.joined(separator: "; ")). Add a part that completes them and run the "
                + "same command again"
        case .otherVersion(let store, let entities):
            "\(store): its model differs from the one given in "
                + entities.prefix(3).joined(separator: ", ")
                + ". The store is unchanged. If it has an older version of the model, migrate it "
                + "first"
        case .store(let error):
            if let reason = error.sqliteReason {
                "the import stopped: \(reason). Every finished batch is kept. Fix the cause, close "
                    + "other programs that use the store, and run the same command again"
            } else {
                "\(error)"
            }
        case .file(let error): "\(error)"
        case .internalError(let text): "a bug in Godwit: \(text)"
        }
    }
}

/// Why one object cannot be written.
enum ObjectFault: Error, Hashable, Sendable {
    /// The object is at fault; in words, without a value.
    case object(String)
    /// SQLite failed.
    case store(StoreError)

    /// Runs a body and turns an error of the store into a fault.
    static func translating<Result>(
        _ body: () throws(StoreError) -> Result
    ) throws(ObjectFault) -> Result {
        do throws(StoreError) {
            return try body()
        } catch {
            throw .store(error)
        }
    }
}
