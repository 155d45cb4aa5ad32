import Foundation
import ModelFiles
import Testing

@testable import ManagedObjectModel

/// Hashes that Core Data wrote into stores or that Xcode's compiler wrote into `VersionInfo.plist`.
@Suite struct VersionHashTests {
    private func hashes(_ model: Model) -> [String: String] {
        VersionHashes(model).entities.mapValues { Data($0).base64EncodedString() }
    }

    @Test func modelWithUniquenessHasHashesDigestAndChecksumOfItsStore() throws {
        let model = try XMLModelReader.read(Array(Samples.syncMetadata.utf8))
        #expect(
            hashes(model) == [
                "SyncableSettingsMetadata": "07TVVttplTirki70JOWjXKp+1ibymh2PA79QnD1zfC0=",
                "SyncFeatureEntity": "KJuJcDoyFq/pc6B+GIlTTYZQd35E74mZMFacZyHqw1c=",
            ])
        let computed = VersionHashes(model)
        #expect(
            computed.digest
                == "7JWfU0xmS3IPFF52TGXSFXUZa1Qep5S4UrWN5w+CErIaLxp0rYoMraOHWZodtjiM"
                + "a3Og/MwRJeXpB4IQKrWvYQ==")
        #expect(computed.checksum == "GuHTA/HnFj+qOrWtQ82hDdTCKqWSki1JPVIij/T8COs=")
        #expect(computed.unconfirmed.isEmpty)
    }

    @Test func subEntitiesBuildOnTheirParents() throws {
        let model = try XMLModelReader.read(Array(Samples.cars.utf8))
        #expect(
            hashes(model) == [
                "Car": "lITFqUIBMVkVPXxgwsaKgoR7eCXO5mcoGtz2TyVxeSk=",
                "LuxuryCar": "vBcyTTVIeamwUwOErPMyyfTNhKQ6TaDJ2kpqWp3dfQg=",
                "Maker": "xo05YAM8Qdm7hk5p4fflD+mYxPJIEpq5PBapZ3vq0b0=",
                "Person": "mc8l/vRuh4lJoMB77AVPnf5cL8eKgecLw6T9d1NqM8c=",
                "SportCar": "aXRu2wwW7/Djuh8m2cJlcOI6REPa+8ykEdgRWq5QRwI=",
            ])
    }

    @Test func modifiersAndOrderedRelationshipsCount() throws {
        let model = try XMLModelReader.read(Array(Samples.bookmarks.utf8))
        #expect(
            hashes(model) == ["BookmarkEntity": "hPB8BH05EI1mbfnQivcosxlzg72mmP6/O5CZfbT9WSk="])
    }

    @Test func preservedValuesAndEntityModifiersCount() throws {
        let keyword = Entity(
            name: "Keyword",
            attributes: [
                Attribute(name: "shortcut", type: .string),
                Attribute(name: "title", type: .string, isIndexed: true),
                Attribute(
                    name: "uuid", type: .string, preservesValueInHistoryOnDeletion: true),
            ],
            relationships: [
                Relationship(
                    name: "assetAttributes", destination: "AdditionalAssetAttributes",
                    inverse: "keywords", maximumCount: 0)
            ], uniquenessConstraints: [["title"]], versionHashModifier: "11066")
        let model = try Model(entities: [keyword, Entity(name: "AdditionalAssetAttributes")])
        #expect(hashes(model)["Keyword"] == "CzvK7s/s+khEl+dfaCHJ37CWPJZYpEX7Kuj0G5fCRr0=")
    }

    @Test func transientPropertiesDoNotCount() throws {
        let label = Entity(
            name: "Label",
            attributes: [
                Attribute(name: "markedForDeletion", type: .boolean, isOptional: false),
                Attribute(name: "modifiedKeys", type: .transformable),
                Attribute(name: "name", type: .string),
                Attribute(name: "remoteIdentifier", type: .undefined, isTransient: true),
                Attribute(name: "remoteIdentifier_data", type: .binary),
                Attribute(name: "type", type: .integer16, isOptional: false),
            ],
            relationships: [
                Relationship(
                    name: "conversations", destination: "Conversation", inverse: "labels",
                    maximumCount: 0)
            ])
        let model = try Model(entities: [label, Entity(name: "Conversation")])
        #expect(hashes(model)["Label"] == "9uMgEEEq1uBFkC9AvwpbqmlrGvsGyY4SZln0BhrXU+g=")
    }

    @Test func derivedCountIsHashedWithoutItsBase() throws {
        let model = try Model(entities: [
            Samples.book, Entity(name: "Author"), Entity(name: "Page"),
        ])
        #expect(hashes(model)["Book"] == "M6w3M6eA2yiVVHm6n5mJzZrNDuHa3ptUXkt0Z1FzAQA=")
        #expect(VersionHashes(model).unconfirmed.isEmpty)
    }

    @Test func propertyThatIsItsOwnInverseLeavesTheInverseOut() throws {
        func model(inverse: String?, destination: String) throws -> [UInt8]? {
            let friends = Relationship(
                name: "friends", destination: destination, inverse: inverse, maximumCount: 0)
            let person = Entity(name: "Person", relationships: [friends])
            return try VersionHashes(Model(entities: [person, Entity(name: "Pet")]))
                .entities["Person"]
        }
        #expect(
            try model(inverse: "friends", destination: "Person")
                == model(inverse: nil, destination: "Person"))
        #expect(
            try model(inverse: "friends", destination: "Pet")
                != model(inverse: nil, destination: "Pet"))
    }

    @Test func whatNoStoreConfirmsIsNamed() throws {
        let parent = Entity(
            name: "Parent",
            attributes: [
                Attribute(
                    name: "home", type: .composite,
                    elements: [Attribute(name: "street", type: .string)]),
                Attribute(name: "größe", type: .double),
                Attribute(name: "fixed", type: .string, isReadOnly: true),
                Attribute(
                    name: "changed", type: .date, isReadOnly: true,
                    derivation: Derivation(expression: "now()")),
                Attribute(
                    name: "plain", type: .string, derivation: Derivation(expression: "a.b")),
                Attribute(
                    name: "hidden", type: .composite, isTransient: true),
            ], uniquenessConstraints: [["fixed"], ["plain"]])
        let model = try Model(
            entities: [parent, Entity(name: "Child", parent: "Parent"), Entity(name: "Other")])
        let unconfirmed = VersionHashes(model).unconfirmed
        #expect(Set(unconfirmed.keys) == ["Parent", "Child"])
        #expect(
            unconfirmed["Child"] == [
                "entity Parent: several uniqueness constraints",
                "attribute Parent.changed: derived by another operator than @count",
                "attribute Parent.fixed: read-only",
                "attribute Parent.größe: a non-ASCII name",
                "attribute Parent.home: composite",
            ])
    }

    @Test func namedDifferencesAreExactlyThose() throws {
        let hashes = VersionHashes(read: ["A": [1], "B": [2], "C": [3]])
        #expect(hashes.differences(from: ["A": [1], "B": [9], "D": [4]]) == ["B", "C", "D"])
    }

    @Test func jsonHasTheDocumentedShape() throws {
        let model = try XMLModelReader.read(Array(Samples.syncMetadata.utf8))
        let encoder = JSONEncoder()
        let data = try encoder.encode(VersionHashes(model))
        let json = try #require(
            try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(Set(json.keys) == ["entities", "digest", "checksum"])
        let entities = try #require(json["entities"] as? [String: String])
        #expect(
            entities["SyncFeatureEntity"] == "KJuJcDoyFq/pc6B+GIlTTYZQd35E74mZMFacZyHqw1c=")
        let read = try JSONDecoder().decode(VersionHashes.self, from: data)
        #expect(read == VersionHashes(model))
    }
}
