@testable import ManagedObjectModel

/// Small models whose hashes are known from Apple's tools.
enum Samples {
    /// The head and foot of a model around entities and other elements.
    static func xml(_ content: String, identifier: String = "") -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" \
        userDefinedModelVersionIdentifier="\(identifier)">
        \(content)
        </model>
        """
    }

    static func unique(_ names: String...) -> String {
        let list = names.map { "<constraint value=\"\($0)\"/>" }.joined()
        return "<uniquenessConstraints><uniquenessConstraint>\(list)</uniquenessConstraint>"
            + "</uniquenessConstraints>"
    }

    static let syncMetadata = xml(
        """
        <entity name="SyncableSettingsMetadata" representedClassName="SyncableSettingsMetadata">
            <attribute name="key" attributeType="String"/>
            <attribute name="lastModified" optional="YES" attributeType="Date"/>
            <fetchIndex name="byKey">
                <fetchIndexElement property="key" type="Binary" order="ascending"/>
            </fetchIndex>
            \(unique("key"))
        </entity>
        <entity name="SyncFeatureEntity" representedClassName="SyncFeatureEntity">
            <attribute name="lastModified" optional="YES" attributeType="String"/>
            <attribute name="name" attributeType="String"/>
            <attribute name="state" optional="YES" attributeType="String"/>
            \(unique("name"))
        </entity>
        """)

    static let cars = xml(
        """
        <entity name="Car" representedClassName="Car">
            <attribute name="markedForDeletionAsOf" optional="YES" attributeType="Date"/>
            <attribute name="model" optional="YES" attributeType="String"/>
            <attribute name="numberPlate" attributeType="String"/>
            <relationship name="createdBy" optional="YES" maxCount="1" deletionRule="Nullify" \
        destinationEntity="Maker" inverseName="cars" inverseEntity="Maker"/>
            <relationship name="owner" optional="YES" maxCount="1" deletionRule="Nullify" \
        destinationEntity="Person" inverseName="cars" inverseEntity="Person"/>
            <relationship name="previousOwners" optional="YES" toMany="YES" \
        destinationEntity="Person" inverseName="previousCars" inverseEntity="Person"/>
            \(unique("numberPlate"))
        </entity>
        <entity name="LuxuryCar" parentEntity="SportCar" elementID="ExpensiveSportCar">
            <attribute name="isLimitedEdition" optional="YES" attributeType="Boolean" \
        defaultValueString="NO"/>
        </entity>
        <entity name="Maker" representedClassName="Maker">
            <attribute name="name" attributeType="String"/>
            <relationship name="cars" optional="YES" toMany="YES" destinationEntity="Car" \
        inverseName="createdBy" inverseEntity="Car"/>
            \(unique("name"))
        </entity>
        <entity name="Person" representedClassName="Person">
            <attribute name="firstName" optional="YES" attributeType="String"/>
            <attribute name="lastName" optional="YES" attributeType="String"/>
            <attribute name="updatedAt" attributeType="Date"/>
            <relationship name="cars" optional="YES" toMany="YES" destinationEntity="Car" \
        inverseName="owner" inverseEntity="Car"/>
            <relationship name="previousCars" optional="YES" toMany="YES" \
        destinationEntity="Car" inverseName="previousOwners" inverseEntity="Car"/>
            \(unique("firstName", "lastName"))
        </entity>
        <entity name="SportCar" representedClassName="SportCar" parentEntity="Car"/>
        """, identifier: "3")

    static let bookmarks = xml(
        """
        <entity name="BookmarkEntity" representedClassName="BookmarkEntity" syncable="YES">
            <attribute name="isFolder" attributeType="Boolean"/>
            <attribute name="isPendingDeletion" optional="YES" attributeType="Boolean" \
        defaultValueString="NO" versionHashModifier="3"/>
            <attribute name="lastChildrenPayloadReceivedFromSync" optional="YES" \
        attributeType="String"/>
            <attribute name="modifiedAt" optional="YES" attributeType="Date"/>
            <attribute name="title" optional="YES" attributeType="String"/>
            <attribute name="url" optional="YES" attributeType="String" versionHashModifier="3"/>
            <attribute name="uuid" attributeType="String" versionHashModifier="3"/>
            <relationship name="children" optional="YES" toMany="YES" deletionRule="Cascade" \
        ordered="YES" destinationEntity="BookmarkEntity" inverseName="parent"/>
            <relationship name="favoriteFolders" optional="YES" toMany="YES" \
        destinationEntity="BookmarkEntity" inverseName="favorites" elementID="favoriteFolder"/>
            <relationship name="favorites" optional="YES" toMany="YES" ordered="YES" \
        destinationEntity="BookmarkEntity" inverseName="favoriteFolders"/>
            <relationship name="parent" optional="YES" maxCount="1" deletionRule="Nullify" \
        destinationEntity="BookmarkEntity" inverseName="children"/>
        </entity>
        """)

    /// Needs entities named Author and Page beside it.
    static let book = Entity(
        name: "Book",
        attributes: [
            Attribute(name: "frontCover", type: .transformable, isOptional: false),
            Attribute(name: "price", type: .decimal, isOptional: false),
            Attribute(
                name: "pagesCount", type: .integer64, isReadOnly: true,
                derivation: Derivation(expression: "pages.@count")),
            Attribute(name: "publishedAt", type: .date, isOptional: false),
            Attribute(name: "title", type: .string, isOptional: false),
            Attribute(name: "uniqueID", type: .uuid, isOptional: false),
        ],
        relationships: [
            Relationship(
                name: "author", destination: "Author", inverse: "books", isOptional: false,
                minimumCount: 1),
            Relationship(
                name: "pages", destination: "Page", inverse: "book", isOptional: false,
                minimumCount: 1, maximumCount: 10_000),
        ], uniquenessConstraints: [["uniqueID"]])
}
