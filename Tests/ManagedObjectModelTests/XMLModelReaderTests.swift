import Foundation
import ModelFiles
import TestSupport
import Testing

@testable import ManagedObjectModel

@Suite struct XMLModelReaderTests {
    private func read(_ content: String) throws -> Model {
        try XMLModelReader.read(Array(Samples.xml(content).utf8))
    }

    private func attribute(_ attributes: String) throws -> Attribute {
        let model = try read("<entity name=\"E\"><attribute name=\"a\" \(attributes)/></entity>")
        return try #require(model.entities["E"]?.attributes.first)
    }

    @Test func entityVocabulary() throws {
        let model = try read(
            """
            <entity name="Base" representedClassName="NSManagedObject" isAbstract="YES"/>
            <entity name="E" representedClassName=".E" parentEntity="Base" elementID="Old" \
            versionHashModifier="m" codeGenerationType="class" syncable="YES">
                <fetchedProperty name="found" optional="YES">
                    <fetchRequest name="r" entity="Base" predicateString="a == 1"/>
                </fetchedProperty>
                <userInfo><entry key="k" value="v"/><entry key="empty"/></userInfo>
            </entity>
            <fetchRequest name="all" entity="E" predicateString="TRUEPREDICATE"/>
            <configuration name="Local" usedWithCloudKit="NO">
                <memberEntity name="E"/><memberEntity name="Base"/><memberEntity name="Gone"/>
            </configuration>
            <elements><element name="E" positionX="0" positionY="0"/></elements>
            """)
        #expect(model.versionIdentifiers == [""])
        #expect(model.configurations == ["Local": ["Base", "E"]])
        let base = try #require(model.entities["Base"])
        #expect(base.className == nil && base.isAbstract)
        let entity = try #require(model.entities["E"])
        #expect(entity.className == ".E")
        #expect(entity.parent == "Base")
        #expect(entity.renamingIdentifier == "Old")
        #expect(entity.versionHashModifier == "m")
        #expect(entity.fetchedProperties == ["found"])
        #expect(entity.userInfo == ["k": "v", "empty": ""])
    }

    @Test func attributeVocabulary() throws {
        let full = try attribute(
            """
            attributeType="Binary" optional="YES" transient="NO" indexed="YES" \
            spotlightIndexingEnabled="YES" allowsExternalBinaryDataStorage="YES" \
            preserveAfterDeletion="YES" allowsCloudEncryption="YES" versionHashModifier="m" \
            elementID="old" usesScalarValueType="NO" minValueString="1" syncable="YES"
            """)
        let expected = Attribute(
            name: "a", type: .binary, isIndexed: true, isIndexedBySpotlight: true,
            allowsExternalBinaryDataStorage: true, preservesValueInHistoryOnDeletion: true,
            allowsCloudEncryption: true, valueClassName: "NSData", versionHashModifier: "m",
            renamingIdentifier: "old")
        #expect(full == expected)
        let transformable = try attribute(
            "attributeType=\"Transformable\" valueTransformerName=\"T\" customClassName=\"Color\"")
        #expect(transformable.valueTransformerName == "T")
        #expect(transformable.valueClassName == "Color")
        #expect(!transformable.isOptional)
        let untyped = try attribute("optional=\"YES\" transient=\"YES\"")
        #expect(untyped.type == .undefined && untyped.isTransient)
        let derived = try attribute(
            "attributeType=\"String\" derived=\"YES\" derivationExpression=\"canonical:(name)\"")
        #expect(derived.derivation == Derivation(expression: "canonical:(name)"))
    }

    @Test(arguments: AttributeType.allCases.filter { $0 != .composite })
    func everyTypeHasItsWord(type: AttributeType) throws {
        #expect(try attribute("attributeType=\"\(type.word)\"").type == type)
    }

    @Test(arguments: [
        ("Integer 16", "-7", DefaultValue.integer(-7)), ("Integer 64", "0.0", .integer(0)),
        ("Integer 32", "NO", .integer(0)),
        ("Integer 64", "9223372036854775807", .integer(.max)), ("Double", "0.5", .real(0.5)),
        ("Float", "2", .real(2)), ("Decimal", "12.50", .decimal("12.50")),
        ("Boolean", "YES", .boolean(true)), ("Boolean", "NO", .boolean(false)),
        ("Boolean", "true", .boolean(true)), ("Boolean", "0", .boolean(false)),
        ("String", "", .text("")), ("String", "a &amp; b", .text("a & b")),
        ("URI", "https://example.org/", .uri("https://example.org/")),
        (
            "UUID", "00010203-0405-0607-0809-0a0B0c0D0e0F",
            .uuid([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
        ),
    ])
    func defaultsByType(type: String, text: String, value: DefaultValue) throws {
        let read = try attribute("attributeType=\"\(type)\" defaultValueString=\"\(text)\"")
        #expect(read.defaultValue == value)
    }

    @Test func dateDefaultIsAnInterval() throws {
        let read = try attribute("attributeType=\"Date\" defaultDateTimeInterval=\"-978307200\"")
        #expect(read.defaultValue == .date(-978_307_200))
    }

    @Test(arguments: [
        ("Integer 16", "32768"), ("Integer 32", "2147483648"), ("Integer 64", "1e19"),
        ("Integer 64", "0.5"), ("Integer 16", "YES"), ("Double", "nan"), ("Float", "x"),
        ("Decimal", "0x10"),
        ("Boolean", "2"), ("UUID", "1"), ("Date", "today"), ("Binary", "00"),
    ])
    func defaultsThatAreNoneAreRefused(type: String, text: String) {
        let error = #expect(throws: ModelError.self) {
            try attribute("attributeType=\"\(type)\" defaultValueString=\"\(text)\"")
        }
        #expect(error?.description.contains("E.a") == true)
    }

    @Test func unknownTypeNamesEntityAttributeAndWord() {
        #expect(
            throws: ModelError.unsupported(
                "attribute E.a has the type Quaternion, which is not known")
        ) { try attribute("attributeType=\"Quaternion\"") }
    }

    @Test(arguments: [
        ("", Int32(0), Int32(1)), ("toMany=\"YES\"", 0, 0),
        ("toMany=\"YES\" minCount=\"2\" maxCount=\"5\"", 2, 5), ("maxCount=\"1\"", 0, 1),
        ("minCount=\"1\" maxCount=\"-1\"", 1, -1),
    ])
    func relationshipCounts(attributes: String, minimum: Int32, maximum: Int32) throws {
        let model = try read(
            """
            <entity name="E">
                <relationship name="r" destinationEntity="E" \(attributes)/>
            </entity>
            """)
        let relationship = try #require(model.entities["E"]?.relationships.first)
        #expect(relationship.minimumCount == minimum && relationship.maximumCount == maximum)
    }

    @Test(arguments: [
        ("Nullify", DeleteRule.nullify), ("Cascade", .cascade), ("Deny", .deny),
        ("No Action", .noAction),
    ])
    func relationshipVocabulary(word: String, rule: DeleteRule) throws {
        let model = try read(
            """
            <entity name="E">
                <relationship name="r" destinationEntity="E" inverseName="s" inverseEntity="E" \
            optional="YES" transient="YES" ordered="YES" toMany="YES" elementID="old" \
            deletionRule="\(word)" versionHashModifier="m" spotlightIndexingEnabled="YES">
                    <userInfo><entry key="k" value="v"/></userInfo>
                </relationship>
                <relationship name="s" destinationEntity="E" inverseName="r"/>
            </entity>
            """)
        let expected = Relationship(
            name: "r", destination: "E", inverse: "s", isTransient: true, maximumCount: 0,
            isOrdered: true, deleteRule: rule, isIndexedBySpotlight: true, userInfo: ["k": "v"],
            versionHashModifier: "m", renamingIdentifier: "old")
        #expect(model.entities["E"]?.relationships.first == expected)
    }

    @Test func compositesAreExpanded() throws {
        let model = try read(
            """
            <composite name="Place">
                <attribute name="city" attributeType="String" optional="YES"/>
                <attribute name="point" attributeType="Composite" compositeName="Point"/>
            </composite>
            <composite name="Point"><attribute name="x" attributeType="Double"/></composite>
            <entity name="E">
                <attribute name="home" attributeType="Composite" compositeName="Place"/>
            </entity>
            """)
        let home = try #require(model.entities["E"]?.attributes.first)
        #expect(home.elements.map(\.name) == ["city", "point"])
        #expect(home.elements.last?.elements.map(\.type) == [.double])
    }

    @Test func indexesAreThoseOfTheCompiler() throws {
        let model = try read(
            """
            <entity name="Base"><relationship name="owner" destinationEntity="Base"/></entity>
            <entity name="E" parentEntity="Base">
                <attribute name="a" attributeType="String"/>
                <attribute name="b" attributeType="String" indexed="YES"/>
                <attribute name="c" attributeType="Date"/>
                <attribute name="d" attributeType="Double"/>
                <attribute name="e" attributeType="Double"/>
                <fetchIndex name="byA"><fetchIndexElement property="a"/></fetchIndex>
                <fetchIndex name="byC">
                    <fetchIndexElement property="c" type="Binary" order="descending"/>
                </fetchIndex>
                <fetchIndex name="byD"><fetchIndexElement property="d" type="RTree"/></fetchIndex>
                <fetchIndex name="someE" partialIndexPredicate="e != nil">
                    <fetchIndexElement property="e" type="Binary" order="ascending"/>
                </fetchIndex>
                <fetchIndex name="byOwner"><fetchIndexElement property="owner"/></fetchIndex>
                <fetchIndex name="byKind">
                    <fetchIndexElement expression="entity" expressionType="Integer 32"/>
                    <fetchIndexElement expression="self"/>
                    <fetchIndexElement expression="length:(a)"/>
                </fetchIndex>
                <compoundIndexes>
                    <compoundIndex><index value="a"/><index value="owner"/></compoundIndex>
                    <compoundIndex/>
                </compoundIndexes>
            </entity>
            """)
        let entity = try #require(model.entities["E"])
        #expect(
            entity.fetchIndexes.map { "\($0.name): \($0.words)" } == [
                "byA: a", "byC: c descending", "byD: d R-tree", "someE: e where #e <> nil",
                "byOwner: owner", "byKind: (entity), (object ID), (length:(a))",
                "a_owner: a, owner", "a: a", "b: b", "e: e",
            ])
        #expect(entity.compoundIndexes == [["a", "owner"]])
    }

    @Test func errorsOfFilesNameTheFile() throws {
        try withTemporaryFolder { folder in
            let model = folder.appendingPathComponent("M.xcdatamodel")
            try FileManager.default.createDirectory(at: model, withIntermediateDirectories: false)
            #expect(throws: ModelError.self) { try XMLModelReader.read(model) }
            let file = model.appendingPathComponent("contents")
            try Data("<model><entity/></model>".utf8).write(to: file)
            let error = #expect(throws: ModelError.self) { try XMLModelReader.read(model) }
            #expect(
                error == .malformed("\(file.path): line 1: element entity has no name"))
            #expect(throws: ModelError.self) { try XMLModelReader.read(folder) }
        }
    }
}
