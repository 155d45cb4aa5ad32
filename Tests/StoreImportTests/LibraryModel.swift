import ManagedObjectModel

/// A model with every form of relationship that a store can keep.
enum LibraryModel {
    /// Members and staff (a sub-entity), books with copies in an order, tags in an order on both
    /// sides, friends, a locker for each member, and notes without a way back.
    static func make() throws -> Model {
        try Model(
            entities: [author, book, copy, locker, person, staff, tag, note],
            versionIdentifiers: ["Library 1"])
    }

    private static let author = Entity(
        name: "Author",
        attributes: [
            Attribute(name: "name", type: .string, isOptional: false),
            Attribute(name: "born", type: .date),
        ],
        relationships: [
            Relationship(
                name: "books", destination: "Book", inverse: "author", maximumCount: 0,
                isOrdered: true)
        ], uniquenessConstraints: [["name"]])

    private static let book = Entity(
        name: "Book",
        attributes: [
            Attribute(name: "isbn", type: .integer64, isOptional: false),
            Attribute(name: "title", type: .string, isOptional: false, defaultValue: .text("?")),
            Attribute(name: "price", type: .decimal),
            Attribute(name: "cover", type: .binary, allowsExternalBinaryDataStorage: true),
        ],
        relationships: [
            Relationship(name: "author", destination: "Author", inverse: "books"),
            Relationship(
                name: "copies", destination: "Copy", inverse: "book", maximumCount: 0,
                deleteRule: .cascade),
            Relationship(
                name: "tags", destination: "Tag", inverse: "books", maximumCount: 0,
                isOrdered: true),
            Relationship(name: "sequel", destination: "Book", inverse: "prequel"),
            Relationship(name: "prequel", destination: "Book", inverse: "sequel"),
        ], uniquenessConstraints: [["isbn"]])

    private static let copy = Entity(
        name: "Copy",
        attributes: [
            Attribute(name: "id", type: .uuid, isOptional: false),
            Attribute(
                name: "isLent", type: .boolean, isOptional: false,
                defaultValue: .boolean(false)),
        ],
        relationships: [
            Relationship(name: "book", destination: "Book", inverse: "copies"),
            Relationship(name: "holder", destination: "Person", inverse: "copies"),
        ], uniquenessConstraints: [["id"]])

    private static let locker = Entity(
        name: "Locker", attributes: [Attribute(name: "number", type: .integer32)],
        relationships: [
            Relationship(name: "owner", destination: "Person", inverse: "locker")
        ], uniquenessConstraints: [["number"]])

    private static let person = Entity(
        name: "Person",
        attributes: [
            Attribute(name: "email", type: .string, isOptional: false),
            Attribute(name: "age", type: .integer16),
        ],
        relationships: [
            Relationship(name: "copies", destination: "Copy", inverse: "holder", maximumCount: 0),
            Relationship(name: "locker", destination: "Locker", inverse: "owner"),
            Relationship(
                name: "friends", destination: "Person", inverse: "friends", maximumCount: 0),
            Relationship(name: "notes", destination: "Note", maximumCount: 0),
        ], uniquenessConstraints: [["email"]])

    private static let staff = Entity(
        name: "Staff", parent: "Person",
        attributes: [Attribute(name: "badge", type: .integer32)],
        relationships: [
            Relationship(name: "boss", destination: "Person")
        ])

    private static let tag = Entity(
        name: "Tag", attributes: [Attribute(name: "name", type: .string, isOptional: false)],
        relationships: [
            Relationship(
                name: "books", destination: "Book", inverse: "tags", maximumCount: 0,
                isOrdered: true)
        ], uniquenessConstraints: [["name"]])

    private static let note = Entity(
        name: "Note", attributes: [Attribute(name: "text", type: .string)],
        uniquenessConstraints: [["text"]])
}
