import ManagedObjectModel
import MappingInference
import MappingModel
import Testing

/// Renames of versions in between, which a migration in one step does not see.
@Suite struct IntermediateRenameTests {
    /// The entity `N`.
    private func notes(_ attributes: Attribute...) -> Entity {
        Entity(name: "N", attributes: attributes)
    }

    private func entity(
        _ name: String, identifier: String? = nil, parent: String? = nil,
        _ attributes: Attribute...
    ) -> Entity {
        Entity(
            name: name, parent: parent, attributes: attributes, renamingIdentifier: identifier)
    }

    private func text(_ name: String, _ identifier: String? = nil) -> Attribute {
        Attribute(name: name, type: .string, renamingIdentifier: identifier)
    }

    /// The renames that stores of the first version are told.
    private func renames(_ models: Model...) throws -> [String: IntermediateRename] {
        let versions = models.enumerated().map {
            IntermediateRenameSearch.Version(name: "v\($0 + 1)", model: $1)
        }
        let source = try #require(versions.first)
        let destination = try #require(versions.last)
        return IntermediateRenameSearch(from: source, to: destination) { left, right in
            do throws(InferenceError) {
                return try Inference(from: left.model, to: right.model)
            } catch {
                return nil
            }
        }.renames(
            through: versions.dropFirst().dropLast().map {
                ($0, $0.identifiers(notRepeatedBy: destination))
            })
    }

    @Test func aRenameThatTheDestinationForgotIsFound() throws {
        let found = try renames(
            model(notes(text("color"))), model(notes(text("hexColor", "color"))),
            model(notes(text("hexColor"))))
        #expect(found == ["N.color": IntermediateRename(version: "v2", name: "N.hexColor")])
    }

    @Test func whatTheDestinationRepeatsOrEveryWayDropsIsNotNamed() throws {
        let renamed = try model(notes(text("hexColor", "color")))
        #expect(try renames(model(notes(text("color"))), renamed, renamed).isEmpty)
        #expect(
            try renames(model(notes(text("color"))), renamed, model(notes(text("size"))))
                .isEmpty)
    }

    /// Two renames after each other need two versions on the way: one does not keep the data.
    @Test func aVersionThatAloneDoesNotHelpIsNotNamed() throws {
        let found = try renames(
            model(notes(text("a"))), model(notes(text("b", "a"))),
            model(notes(text("c", "b"))), model(notes(text("c"))))
        #expect(found.isEmpty)
    }

    @Test func aVersionThatStoresCannotReachIsNotNamed() throws {
        let typed = Attribute(name: "t", type: .integer32)
        let found = try renames(
            model(notes(text("a"), text("t"))), model(notes(text("a"))),
            model(notes(text("b", "a"), typed)), model(notes(text("b"))))
        #expect(found.isEmpty)
    }

    @Test func aVersionThatSomeStoresCannotReachIsNotNamed() throws {
        let required = Attribute(name: "r", type: .string, isOptional: false)
        let found = try renames(
            model(notes(text("a"))), model(notes(text("b", "a"), required)),
            model(notes(text("b"))))
        #expect(found.isEmpty)
    }

    @Test func aVersionThatLosesSomethingElseIsNotNamed() throws {
        let found = try renames(
            model(notes(text("a"), text("q"))), model(notes(text("b", "a"))),
            model(notes(text("b"), text("q"))))
        #expect(found.isEmpty)
    }

    /// The values of all sub-entities count for the property that they inherit.
    @Test func aVersionThatHelpsOneSubentityIsNotNamed() throws {
        let first = try model(
            entity("P", text("a")), entity("S1", parent: "P"), entity("S2", parent: "P"))
        let second = try model(
            entity("P"), entity("S1", parent: "P", text("b", "a")), entity("S2", parent: "P"))
        let last = try model(
            entity("P"), entity("S1", parent: "P", text("b")), entity("S2", parent: "P"))
        #expect(try renames(first, second, last).isEmpty)
    }

    /// A version behind the one that helps may drop the property: stores pass it by.
    @Test func aVersionThatDropsItDoesNotMatter() throws {
        let found = try renames(
            model(notes(text("a"))), model(notes(text("b", "a"))), model(notes()),
            model(notes(text("b"))))
        #expect(found == ["N.a": IntermediateRename(version: "v2", name: "N.b")])
    }

    @Test func entitiesAreFollowedWithAllTheirProperties() throws {
        let renamed = try model(entity("M", identifier: "N", text("a"), text("b")))
        let found = try renames(
            model(notes(text("a"), text("b"))), renamed, model(entity("M", text("a"), text("b"))))
        #expect(found["N"] == IntermediateRename(version: "v2", name: "M"))
        let lossy = try renames(
            model(notes(text("a"), text("b"))), renamed, model(entity("M", text("a"))))
        #expect(lossy["N"] == nil)
    }

    /// On the way a default would fill what is missing.
    @Test func aVersionThatFillsMissingValuesIsNotNamed() throws {
        let filled = Attribute(
            name: "q", type: .string, isOptional: false, defaultValue: .text("DEF"))
        let found = try renames(
            model(notes(text("a"), text("q"))), model(notes(text("b", "a"), filled)),
            model(notes(text("b"), text("q"))))
        #expect(found.isEmpty)
    }

    /// On the way the order of a list would go.
    @Test func aVersionThatForgetsAnOrderIsNotNamed() throws {
        func version(isOrdered: Bool, _ attribute: Attribute) throws -> Model {
            try model(
                Entity(
                    name: "Parent", attributes: [attribute],
                    relationships: [children(isOrdered: isOrdered)]),
                Entity(name: "Child", relationships: [parent()]))
        }
        let found = try renames(
            version(isOrdered: true, text("a")), version(isOrdered: false, text("b", "a")),
            version(isOrdered: true, text("b")))
        #expect(found.isEmpty)
        let kept = try renames(
            version(isOrdered: true, text("a")), version(isOrdered: true, text("b", "a")),
            version(isOrdered: true, text("b")))
        #expect(kept["Parent.a"] == IntermediateRename(version: "v2", name: "Parent.b"))
    }

    @Test func relationshipsAreFollowed() throws {
        let found = try renames(
            family(),
            family(
                children("kids", inverse: "owner", identifier: "children"),
                parent("owner", inverse: "kids", identifier: "parent")),
            family(children("kids", inverse: "owner"), parent("owner", inverse: "kids")))
        #expect(
            found == [
                "Parent.children": IntermediateRename(version: "v2", name: "Parent.kids"),
                "Child.parent": IntermediateRename(version: "v2", name: "Child.owner"),
            ])
    }

    /// The side that keeps its name keeps the links.
    @Test func oneSideOfARelationshipIsEnough() throws {
        let found = try renames(
            family(), family(children("kids", identifier: "children"), parent(inverse: "kids")),
            family(children("kids"), parent(inverse: "kids")))
        #expect(found.isEmpty)
    }
}
