import ManagedObjectModel
import MappingModel
import Testing

/// Renames of versions in between, which a migration in one step does not see.
@Suite struct RenameTrailTests {
    private func note(
        _ name: String, identifier: String? = nil, type: AttributeType = .string,
        in entity: String = "Note", entityIdentifier: String? = nil
    ) throws -> Model {
        try model(
            Entity(
                name: entity,
                attributes: [
                    Attribute(name: name, type: type, renamingIdentifier: identifier),
                    Attribute(name: "kept", type: .string),
                ], renamingIdentifier: entityIdentifier))
    }

    private func renames(_ models: [Model]) throws -> [String: IntermediateRename] {
        let versions = models.enumerated().map {
            RenameTrail.Version(name: "V\($0 + 1)", model: $1)
        }
        let source = try #require(versions.first)
        let destination = try #require(versions.last)
        return RenameTrail.renames(
            from: source, through: Array(versions.dropFirst().dropLast()), to: destination,
            infer: { left, right in
                do throws(InferenceError) {
                    return try Inference(from: left.model, to: right.model)
                } catch {
                    return nil
                }
            })
    }

    @Test func aRenameThatTheDestinationForgotIsFound() throws {
        let found = try renames([
            try note("color"), try note("hexColor", identifier: "color"), try note("hexColor"),
        ])
        #expect(
            found == ["Note.color": IntermediateRename(version: "V2", name: "Note.hexColor")])
    }

    @Test func renamesAddUp() throws {
        let found = try renames([
            try note("a"), try note("b", identifier: "a"), try note("c", identifier: "b"),
            try note("c"),
        ])
        #expect(found == ["Note.a": IntermediateRename(version: "V2", name: "Note.c")])
    }

    @Test func whatTheDestinationStillNamesIsNoLoss() throws {
        let found = try renames([
            try note("color"), try note("hexColor", identifier: "color"),
            try note("hexColor", identifier: "color"),
        ])
        #expect(found.isEmpty)
    }

    @Test func whatEveryWayDropsIsNotNamed() throws {
        let found = try renames([
            try note("color"), try note("hexColor", identifier: "color"), try note("size"),
        ])
        #expect(found.isEmpty)
    }

    @Test func aVersionThatCannotBeInferredIsPassedOver() throws {
        let found = try renames([
            try note("color"), try note("color", type: .integer32),
            try note("hexColor", identifier: "color"), try note("hexColor"),
        ])
        #expect(
            found == ["Note.color": IntermediateRename(version: "V3", name: "Note.hexColor")])
    }

    @Test func entitiesAreFollowed() throws {
        let found = try renames([
            try note("color"), try note("color", in: "Memo", entityIdentifier: "Note"),
            try note("color", in: "Memo"),
        ])
        #expect(found["Note"] == IntermediateRename(version: "V2", name: "Memo"))
    }

    @Test func relationshipsAreFollowed() throws {
        let found = try renames([
            try family(),
            try family(children("kids", identifier: "children"), parent("parent", inverse: "kids")),
            try family(children("kids"), parent("parent", inverse: "kids")),
        ])
        // The parent, which stays, keeps the links.
        #expect(found.isEmpty || found["Parent.children"]?.name == "Parent.kids")
    }
}
