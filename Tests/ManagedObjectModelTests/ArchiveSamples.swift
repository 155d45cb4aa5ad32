import ManagedObjectModel

/// A model with one of everything that an archive can hold.
enum ArchiveSamples {
    static func model() throws -> Model {
        try Model(
            entities: [document, book, page, place],
            versionIdentifiers: ["2.1", "ü"],
            configurations: ["Cloud": ["Book", "Page"], "Local": []])
    }

    private static var document: Entity {
        var entity = Entity(name: "Document", className: "App.Document", isAbstract: true)
        entity.attributes = [
            Attribute(
                name: "createdAt", type: .date, isOptional: false, isIndexed: true,
                defaultValue: .date(-978_307_200), valueClassName: "NSDate"),
            Attribute(
                name: "title", type: .string, defaultValue: .text("Größe 😀"),
                valueClassName: "NSString", userInfo: ["b": "2", "a": "1"],
                versionHashModifier: "v2", renamingIdentifier: "name"),
        ]
        entity.relationships = [
            Relationship(
                name: "place", destination: "Place", inverse: "documents", deleteRule: .deny)
        ]
        entity.fetchIndexes = [
            FetchIndex(
                name: "byTitle",
                elements: [
                    FetchIndexElement(.property("title"), isAscending: false),
                    FetchIndexElement(.entity), FetchIndexElement(.objectID),
                    FetchIndexElement(.expression("canonical:(title)")),
                ],
                partialPredicate: .or([
                    .and([
                        .compare(property: "title", .notEqual, nil),
                        .compare(property: "createdAt", .greaterThanOrEqual, .date(5)),
                    ]),
                    .not(.compare(property: "title", .lessThan, .text("m"))),
                ]))
        ]
        return entity
    }

    private static var book: Entity {
        var entity = Entity(
            name: "Book", parent: "Document", userInfo: ["key": "value"],
            versionHashModifier: "7", renamingIdentifier: "Tome")
        entity.attributes = [
            Attribute(
                name: "cover", type: .binary, isTransient: true,
                allowsExternalBinaryDataStorage: true,
                preservesValueInHistoryOnDeletion: true, allowsCloudEncryption: true,
                defaultValue: .data([0, 255]), valueClassName: "NSData"),
            Attribute(
                name: "isbn", type: .uuid, isIndexedBySpotlight: true,
                defaultValue: .uuid(Array(1...16)), valueClassName: "NSUUID"),
            Attribute(
                name: "pageCount", type: .integer32, isReadOnly: true, valueClassName: "NSNumber",
                derivation: Derivation(
                    expression: "pages.@count", filter: "number > 3 AND number < 9")),
            Attribute(
                name: "price", type: .decimal, defaultValue: .decimal("-12.50"),
                valueClassName: "NSDecimalNumber"),
            Attribute(
                name: "rating", type: .double, defaultValue: .real(0.5),
                valueClassName: "NSNumber"),
            Attribute(
                name: "site", type: .uri, defaultValue: .uri("https://example.org/"),
                valueClassName: "NSURL"),
            Attribute(
                name: "tags", type: .transformable, valueTransformerName: "TagsTransformer",
                valueClassName: "NSArray"),
            Attribute(
                name: "touchedAt", type: .date, isReadOnly: true, valueClassName: "NSDate",
                derivation: Derivation(expression: "now()")),
        ]
        entity.relationships = [
            Relationship(
                name: "pages", destination: "Page", inverse: "book", minimumCount: 1,
                maximumCount: 10_000, isOrdered: true, deleteRule: .cascade,
                userInfo: ["x": "y"], versionHashModifier: "r", renamingIdentifier: "sheets"),
            Relationship(
                name: "related", destination: "Book", isOptional: false, isTransient: true,
                minimumCount: 0, maximumCount: -1, deleteRule: .noAction),
        ]
        entity.fetchedProperties = ["recentPages"]
        entity.compoundIndexes = [["isbn", "rating"]]
        entity.uniquenessConstraints = [["isbn"], ["site", "price"]]
        return entity
    }

    private static var page: Entity {
        var entity = Entity(name: "Page")
        entity.attributes = [
            Attribute(
                name: "isBlank", type: .boolean, defaultValue: .boolean(true),
                valueClassName: "NSNumber"),
            Attribute(
                name: "number", type: .integer64, defaultValue: .integer(.min),
                valueClassName: "NSNumber"),
        ]
        entity.relationships = [
            Relationship(name: "book", destination: "Book", inverse: "pages")
        ]
        return entity
    }

    private static var place: Entity {
        var entity = Entity(name: "Place")
        entity.attributes = [
            Attribute(
                name: "position", type: .composite,
                elements: [
                    Attribute(
                        name: "latitude", type: .double, defaultValue: .real(-0.0),
                        valueClassName: "NSNumber"),
                    Attribute(name: "longitude", type: .float, valueClassName: "NSNumber"),
                ])
        ]
        entity.relationships = [
            Relationship(
                name: "documents", destination: "Document", inverse: "place", maximumCount: 0)
        ]
        entity.fetchIndexes = [
            FetchIndex(
                name: "where", elements: [FetchIndexElement(.property("position"), type: .rTree)])
        ]
        return entity
    }
}
