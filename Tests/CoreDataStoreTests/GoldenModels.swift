import ManagedObjectModel

/// Small models of real apps, retyped as far as they bear on the SQL of their stores.
enum GoldenModels {
    /// Attributes of one type, optional and without default.
    private static func attributes(_ type: AttributeType, _ names: String...) -> [Attribute] {
        names.map { Attribute(name: $0, type: type) }
    }

    private static func toOne(
        _ name: String, _ destination: String, _ inverse: String
    ) -> Relationship {
        Relationship(name: name, destination: destination, inverse: inverse)
    }

    private static func toMany(
        _ name: String, _ destination: String, _ inverse: String, isOrdered: Bool = false,
        isTransient: Bool = false
    ) -> Relationship {
        Relationship(
            name: name, destination: destination, inverse: inverse, isTransient: isTransient,
            maximumCount: 0, isOrdered: isOrdered)
    }

    /// Cars and persons: a hierarchy of three, unique values, transient attributes.
    static func cars() throws -> Model {
        try Model(entities: [
            Entity(
                name: "Car",
                attributes: [
                    Attribute(name: "color", type: .transformable),
                    Attribute(name: "currentDrivingSpeed", type: .integer64, isTransient: true),
                    Attribute(name: "markedForDeletionAsOf", type: .date),
                ] + attributes(.string, "maker", "model", "numberPlate"),
                relationships: [toOne("owner", "Person", "cars")],
                uniquenessConstraints: [["numberPlate"]]),
            Entity(
                name: "ExpensiveSportCar", parent: "SportCar",
                attributes: attributes(.boolean, "isLimitedEdition")),
            Entity(
                name: "Person",
                attributes: [
                    Attribute(name: "id", type: .uuid),
                    Attribute(name: "isDriving", type: .boolean, isTransient: true),
                    Attribute(name: "updatedAt", type: .date),
                ] + attributes(.string, "firstName", "lastName"),
                relationships: [toMany("cars", "Car", "owner")],
                uniquenessConstraints: [["firstName", "lastName"]]),
            Entity(name: "SportCar", parent: "Car"),
        ])
    }

    /// Moods of countries and continents: indexes and constraints of the old era.
    static func moods() throws -> Model {
        try Model(entities: [
            Entity(
                name: "Continent", parent: "GeographicRegion",
                attributes: attributes(.integer64, "numberOfCountries"),
                relationships: [
                    toMany("countries", "Country", "continent"),
                    toMany("moods", "Mood", "continent"),
                ]),
            Entity(
                name: "Country", parent: "GeographicRegion",
                relationships: [
                    toOne("continent", "Continent", "countries"),
                    toMany("moods", "Mood", "country"),
                ]),
            Entity(
                name: "GeographicRegion", isAbstract: true,
                attributes: attributes(.date, "markedForDeletionDate", "updatedAt")
                    + attributes(.integer64, "numberOfMoods")
                    + attributes(.integer16, "numericISO3166Code", "uniquenessDummy"),
                compoundIndexes: [["markedForDeletionDate", "updatedAt"]],
                uniquenessConstraints: [["numericISO3166Code", "uniquenessDummy"]]),
            Entity(
                name: "Mood",
                attributes: [
                    Attribute(name: "markedForDeletionDate", type: .date, isIndexed: true),
                    Attribute(name: "remoteID", type: .string, isIndexed: true),
                    Attribute(name: "colors", type: .transformable),
                    Attribute(name: "markedForRemoteDeletion", type: .boolean),
                ] + attributes(.string, "creatorID") + attributes(.date, "date")
                    + attributes(.double, "latitude", "longitude")
                    + attributes(.integer16, "rating"),
                relationships: [
                    toOne("continent", "Continent", "moods"), toOne("country", "Country", "moods"),
                ],
                compoundIndexes: [["markedForRemoteDeletion", "markedForDeletionDate", "date"]]),
        ])
    }

    /// Bookmarks that contain and favour each other, both in order.
    static let bookmarks = """
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="BookmarkEntity">
        <attribute name="isFolder" attributeType="Boolean"/>
        <attribute name="isPendingDeletion" optional="YES" attributeType="Boolean"/>
        <attribute name="modifiedAt" optional="YES" attributeType="Date"/>
        <attribute name="title" optional="YES" attributeType="String"/>
        <attribute name="url" optional="YES" attributeType="String"/>
        <attribute name="uuid" attributeType="String"/>
        <relationship name="children" optional="YES" toMany="YES" ordered="YES"
          destinationEntity="BookmarkEntity" inverseName="parent"
          inverseEntity="BookmarkEntity"/>
        <relationship name="favoriteFolders" optional="YES" toMany="YES"
          destinationEntity="BookmarkEntity" inverseName="favorites"
          inverseEntity="BookmarkEntity"/>
        <relationship name="favorites" optional="YES" toMany="YES" ordered="YES"
          destinationEntity="BookmarkEntity" inverseName="favoriteFolders"
          inverseEntity="BookmarkEntity"/>
        <relationship name="parent" optional="YES" maxCount="1"
          destinationEntity="BookmarkEntity" inverseName="children"
          inverseEntity="BookmarkEntity"/>
        <fetchIndex name="byUUID">
        <fetchIndexElement property="uuid" type="Binary" order="ascending"/>
        <fetchIndexElement property="isPendingDeletion" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="byURL">
        <fetchIndexElement property="url" type="Binary" order="ascending"/>
        <fetchIndexElement property="isPendingDeletion" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="byIsPendingDeletion">
        <fetchIndexElement property="isPendingDeletion" type="Binary" order="ascending"/>
        </fetchIndex>
        </entity></model>
        """

    /// Books with pages, the count of which a derived attribute holds.
    static func books() throws -> Model {
        let cover = Attribute(
            name: "cover", type: .binary, allowsExternalBinaryDataStorage: true)
        let count = Attribute(
            name: "pagesCount", type: .integer64, derivation: Derivation(expression: "pages.@count")
        )
        return try Model(entities: [
            Entity(
                name: "Author", parent: "Writer",
                attributes: attributes(.string, "alias") + attributes(.uri, "siteURL"),
                relationships: [toMany("books", "Book", "author")],
                uniquenessConstraints: [["alias"]]),
            Entity(
                name: "Book",
                attributes: [cover, count] + attributes(.decimal, "price")
                    + attributes(.date, "publishedAt") + attributes(.string, "title")
                    + attributes(.uuid, "uniqueID"),
                relationships: [
                    toOne("author", "Author", "books"), toMany("pages", "Page", "book"),
                ], uniquenessConstraints: [["uniqueID"]]),
            Entity(
                name: "GraphicNovel", parent: "Book",
                attributes: attributes(.boolean, "isBlackAndWhite")),
            Entity(
                name: "Page",
                attributes: attributes(.boolean, "isBookmarked") + attributes(.integer32, "number")
                    + attributes(.transformable, "content"),
                relationships: [toOne("book", "Book", "pages")]),
            Entity(
                name: "Writer", isAbstract: true, attributes: attributes(.integer16, "age")),
        ])
    }

    /// Clients that trust and ignore each other.
    ///
    /// The later version has three attributes more, which turns the order in which the
    /// relationships are visited.
    static func clients(isLater: Bool) throws -> Model {
        var texts = attributes(
            .string, "activationAddress", "deviceClass", "label", "model", "remoteIdentifier",
            "type")
        texts += attributes(.date, "activationDate")
        texts += attributes(.double, "activationLocationLatitude", "activationLocationLongitude")
        texts += attributes(.binary, "fingerprint")
        texts += attributes(.boolean, "markedToDelete", "needsToNotifyUser")
        texts += attributes(.integer64, "modifiedDataFields", "preKeysRangeMax")
        texts += attributes(.integer32, "numberOfKeysRemaining")
        if isLater {
            texts += attributes(.binary, "apsDecryptionKey", "apsVerificationKey")
            texts += attributes(.boolean, "needsToUploadSignalingKeys")
        }
        let client = Entity(
            name: "UserClient", attributes: texts,
            relationships: [
                toMany("addedOrRemovedInSystemMessages", "SystemMessage", "clients"),
                toMany("ignoredByClients", "UserClient", "ignoredClients"),
                toMany("ignoredClients", "UserClient", "ignoredByClients"),
                toMany(
                    "messagesMissingRecipient", "Message", "missingRecipients",
                    isTransient: true),
                toOne("missedByClient", "UserClient", "missingClients"),
                toMany("missingClients", "UserClient", "missedByClient"),
                toMany("trustedByClients", "UserClient", "trustedClients"),
                toMany("trustedClients", "UserClient", "trustedByClients"),
                toOne("user", "User", "clients"),
            ])
        // Entities whose names come first give the clients the number that they have in the app.
        let others = (0..<10).map { Entity(name: "Entity\($0)") }
        return try Model(
            entities: others + [
                client,
                Entity(
                    name: "Message",
                    relationships: [
                        toMany(
                            "missingRecipients", "UserClient", "messagesMissingRecipient",
                            isTransient: true)
                    ]),
                Entity(
                    name: "SystemMessage", parent: "Message",
                    relationships: [
                        toMany("clients", "UserClient", "addedOrRemovedInSystemMessages")
                    ]),
                Entity(name: "User", relationships: [toMany("clients", "UserClient", "user")]),
            ])
    }
}
