package import Foundation
package import ManagedObjectModel

/// Reads the XML form of a model, `X.xcdatamodel/contents`.
///
/// The result is what Xcode's compiler makes of the XML as far as a store or a hash depends on
/// it, additional fetch indexes included (§7.2). Stored fetch requests, validation and the
/// layout of the editor are passed over.
package enum XMLModelReader {
    /// Entities that a model may have: history's own entity numbers begin at 16001.
    package static let entityLimit = 2_000

    /// Reads the content of a `contents` file.
    ///
    /// - Throws: `ModelError.malformed` for what is no model, with the line where one is known;
    ///   `ModelError.unsupported` for words of the vocabulary that cannot be read, and for names
    ///   that Core Data cannot store.
    /// - Complexity: O(n) in the bytes, and O(properties × depth) to check inheritance.
    package static func read(_ bytes: [UInt8]) throws(ModelError) -> Model {
        let root = try DocumentParser.parse(bytes)
        guard root.name == "model" else {
            throw .malformed("line \(root.line): the root element is \(root.name), not model")
        }
        var builder = try XMLModelBuilder(root)
        let model = try builder.model()
        try ModelNames.check(model)
        return model
    }

    /// Reads an `.xcdatamodel` folder, or the `contents` file in one.
    ///
    /// - Throws: what `read(_:)` throws, naming the file; `ModelError.unreadable` where the file
    ///   cannot be read; `ModelError.unsupported` for the binary format of old editors.
    package static func read(_ place: URL) throws(ModelError) -> Model {
        let file = BoundedFile.isFolder(place) ? try contents(of: place) : place
        let bytes = try BoundedFile.read(file, limit: DocumentParser.byteLimit)
        do {
            return try read(bytes)
        } catch .malformed(let text) {
            throw .malformed("\(file.path): \(text)")
        } catch .unsupported(let text) {
            throw .unsupported("\(file.path): \(text)")
        }
    }

    /// The file with the XML in a model folder.
    private static func contents(of folder: URL) throws(ModelError) -> URL {
        let file = folder.appendingPathComponent("contents")
        if FileManager.default.fileExists(atPath: file.path) { return file }
        let old = folder.appendingPathComponent("elements")
        if FileManager.default.fileExists(atPath: old.path) {
            throw .unsupported(
                "\(folder.path) is in the binary format of old Xcode editors (elements, layout); "
                    + "save it with Xcode 4.3 or later, or give the compiled .mom")
        }
        throw .unreadable("\(folder.path) has no file named contents: it is not a model folder")
    }
}

/// Turns the elements of one XML model into values.
struct XMLModelBuilder {
    let root: DocumentElement
    /// Composite types by name, from the model's `composite` elements.
    private(set) var composites: [String: DocumentElement] = [:]
    /// Attributes that composites may still be expanded to: nested ones could grow without end.
    var compositeBudget = 10_000

    init(_ root: DocumentElement) throws(ModelError) {
        self.root = root
        for element in root.children(named: "composite") {
            composites[try element.required("name")] = element
        }
    }

    /// The whole model.
    mutating func model() throws(ModelError) -> Model {
        var entities: [Entity] = []
        var configurations: [String: [String]] = [:]
        for element in root.children {
            switch element.name {
            case "entity": entities.append(try entity(element))
            case "configuration":
                var members: [String] = []
                for member in element.children(named: "memberEntity") {
                    members.append(try member.required("name"))
                }
                configurations[try element.required("name")] = members
            case "composite", "elements", "fetchRequest", "userInfo": continue
            default: throw unknown(element, in: "model")
            }
        }
        guard entities.count <= XMLModelReader.entityLimit else {
            throw .malformed("more than \(XMLModelReader.entityLimit) entities")
        }
        Self.addIndexesOfCompilation(&entities)
        let identifier = root.attributes["userDefinedModelVersionIdentifier"]
        return try Model(
            entities: entities, versionIdentifiers: identifier.map { [$0] } ?? [],
            configurations: configurations)
    }

    private mutating func entity(_ element: DocumentElement) throws(ModelError) -> Entity {
        var entity = Entity(name: try element.required("name"))
        let className = element.text("representedClassName")
        entity.className = className == "NSManagedObject" ? nil : className
        entity.parent = element.text("parentEntity")
        entity.isAbstract = try element.flag("isAbstract")
        entity.versionHashModifier = element.text("versionHashModifier")
        entity.renamingIdentifier = element.text("elementID")
        for child in element.children {
            switch child.name {
            case "attribute":
                let owner = entity.name
                entity.attributes.append(try attribute(child, of: owner, depth: 0))
            case "relationship": entity.relationships.append(try relationship(child))
            case "fetchedProperty": entity.fetchedProperties.append(try child.required("name"))
            case "fetchIndex": entity.fetchIndexes.append(try fetchIndex(child))
            case "compoundIndexes": entity.compoundIndexes += try compoundIndexes(child)
            case "uniquenessConstraints":
                entity.uniquenessConstraints += try uniquenessConstraints(child)
            case "userInfo":
                entity.userInfo.merge(try userInfo(child)) { _, later in later }
            default: throw unknown(child, in: "entity \(entity.name)")
            }
        }
        return entity
    }

    /// An element that the vocabulary does not have could matter to the store: refused.
    private func unknown(_ element: DocumentElement, in place: String) -> ModelError {
        .unsupported("line \(element.line): \(place) has an unknown element \(element.name)")
    }

    /// The entries of a `userInfo` element.
    func userInfo(_ element: DocumentElement) throws(ModelError) -> [String: String] {
        var entries: [String: String] = [:]
        for entry in element.children(named: "entry") {
            entries[try entry.required("key")] = entry.attributes["value"] ?? ""
        }
        return entries
    }

    /// The entries of every `userInfo` element of a property.
    func userInfo(of property: DocumentElement) throws(ModelError) -> [String: String] {
        var entries: [String: String] = [:]
        for element in property.children(named: "userInfo") {
            entries.merge(try userInfo(element)) { _, later in later }
        }
        return entries
    }
}
