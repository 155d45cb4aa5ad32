import ManagedObjectModel

/// A library in two versions, of which the second changes where and how most links are stored.
enum MutationModels {
    private static func text(_ name: String) -> Attribute { Attribute(name: name, type: .string) }

    /// Relationships of each kind, nothing ordered.
    static func first() throws -> Model {
        try Model(entities: [
            Entity(
                name: "Shelf", attributes: [text("label")],
                relationships: [many("books", "Book", "shelf")]),
            Entity(
                name: "Book",
                attributes: [
                    text("title"), Attribute(name: "pages", type: .integer32),
                    Attribute(name: "cover", type: .binary),
                    Attribute(name: "rating", type: .double),
                ],
                relationships: [
                    one("shelf", "Shelf", "books"), many("authors", "Author", "books"),
                    many("reviews", "Review", "book"), one("borrower", "Reader", "loans"),
                    many("subjects", "Subject", "books"),
                ]),
            Entity(
                name: "Author", attributes: [text("name")],
                relationships: [many("books", "Book", "authors")]),
            Entity(
                name: "Review", attributes: [text("opinion")],
                relationships: [one("book", "Book", "reviews")]),
            Entity(
                name: "Reader", attributes: [text("name")],
                relationships: [many("favourites", "Book"), many("loans", "Book", "borrower")]),
            Entity(
                name: "Subject", attributes: [text("name")],
                relationships: [many("books", "Book", "subjects")]),
        ])
    }

    /// A shelf's books and a reader's favourites get an order; a book has one author; a review
    /// is of many books; a reader has one loan; a subject's books get an order; authors and
    /// readers share a table.
    static func second() throws -> Model {
        var books = many("books", "Book", "shelf")
        books.isOrdered = true
        var favourites = many("favourites", "Book")
        favourites.isOrdered = true
        var ordered = many("books", "Book", "subjects")
        ordered.isOrdered = true
        var author = one("author", "Author", "books")
        author.renamingIdentifier = "authors"
        var reviewed = many("books", "Book", "reviews")
        reviewed.renamingIdentifier = "book"
        var loan = one("loan", "Book", "borrower")
        loan.renamingIdentifier = "loans"
        return try Model(entities: [
            Entity(name: "Shelf", attributes: [text("label")], relationships: [books]),
            Entity(
                name: "Book",
                attributes: [
                    text("title"), Attribute(name: "pages", type: .integer32),
                    Attribute(name: "cover", type: .binary),
                    Attribute(name: "rating", type: .double),
                ],
                relationships: [
                    one("shelf", "Shelf", "books"), author, many("reviews", "Review", "books"),
                    one("borrower", "Reader", "loan"), many("subjects", "Subject", "books"),
                ]),
            Entity(name: "Person", isAbstract: true),
            Entity(
                name: "Author", parent: "Person", attributes: [text("name")],
                relationships: [many("books", "Book", "author")]),
            Entity(
                name: "Review", attributes: [text("opinion")], relationships: [reviewed]),
            Entity(
                name: "Reader", parent: "Person", attributes: [text("name")],
                relationships: [favourites, loan]),
            Entity(name: "Subject", attributes: [text("name")], relationships: [ordered]),
        ])
    }

    private static func one(
        _ name: String, _ destination: String, _ inverse: String? = nil
    ) -> Relationship {
        Relationship(name: name, destination: destination, inverse: inverse)
    }

    private static func many(
        _ name: String, _ destination: String, _ inverse: String? = nil
    ) -> Relationship {
        Relationship(name: name, destination: destination, inverse: inverse, maximumCount: 0)
    }
}
