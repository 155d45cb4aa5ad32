import ManagedObjectModel
import MappingInference
import MappingModel
import Testing

@Suite("Inference: attributes")
struct AttributeInferenceTests {
    private func one(_ attributes: Attribute...) throws -> Model {
        try Model(entities: [Entity(name: "E", attributes: attributes)])
    }

    @Test("a new attribute takes its default, optional or not, else no value")
    func added() throws {
        let inference = try infer(
            one(),
            one(
                Attribute(name: "a", type: .integer32, defaultValue: .integer(7)),
                Attribute(
                    name: "b", type: .boolean, isOptional: false, defaultValue: .boolean(true)),
                Attribute(name: "c", type: .string)))
        #expect(try inference.value("a", of: "E") == .constant(.integer(7)))
        #expect(try inference.value("b", of: "E") == .constant(.boolean(true)))
        #expect(try inference.value("c", of: "E") == .null)
        #expect(inference.requirements.isEmpty)
        #expect(try inference.mapping(to: "E").kind == .transform)
    }

    @Test("a new required attribute without default allows no objects")
    func addedRequired() throws {
        let after = try one(Attribute(name: "a", type: .string, isOptional: false))
        let inference = try infer(one(), after)
        #expect(
            inference.requirements
                == [.noObjects(entity: "E", reason: .requiredAttribute(.init("E", "a")))])
        let text = try #require(inference.requirements.first).refusal(count: 3)
        #expect(
            text == "entity E has 3 objects, but E.a is new and required and has no default value "
                + "(rule: new required attribute without default). Give E.a a default value or "
                + "make it optional in the destination model, or use a version in between.")
    }

    @Test("every sub-entity has the requirement of its own objects")
    func inheritedRequirement() throws {
        let tree = [Entity(name: "Base"), Entity(name: "Leaf", parent: "Base")]
        var changed = tree
        changed[0].attributes = [Attribute(name: "a", type: .string, isOptional: false)]
        let inference = try infer(Model(entities: tree), Model(entities: changed))
        let reason = AbsenceReason.requiredAttribute(.init("Base", "a"))
        #expect(
            inference.requirements == [
                .noObjects(entity: "Base", reason: reason),
                .noObjects(entity: "Leaf", reason: reason),
            ])
    }

    @Test("optional becomes required with and without default")
    func becomesRequired() throws {
        let before = try one(Attribute(name: "a", type: .string))
        let without = try infer(
            before, one(Attribute(name: "a", type: .string, isOptional: false)))
        #expect(try without.value("a", of: "E") == .source("a"))
        #expect(
            without.requirements
                == [.noMissingValue(source: .init("E", "a"), destination: .init("E", "a"))])
        let with = try infer(
            before,
            one(Attribute(name: "a", type: .string, isOptional: false, defaultValue: .text("x"))))
        #expect(try with.value("a", of: "E") == .sourceOrDefault("a", .text("x")))
        #expect(with.requirements.isEmpty)
    }

    @Test("required becomes optional, or stays required: values are carried as they are")
    func noLongerRequired() throws {
        let required = try one(
            Attribute(name: "a", type: .string, isOptional: false, defaultValue: .text("x")))
        #expect(try infer(required, required).value("a", of: "E") == .source("a"))
        let optional = try infer(
            required, one(Attribute(name: "a", type: .string, defaultValue: .text("y"))))
        #expect(try optional.value("a", of: "E") == .source("a"))
        #expect(optional.requirements.isEmpty)
    }

    @Test("a change of type is refused once, at the declaring entity")
    func typeChanged() throws {
        let before = try model(
            Entity(name: "E", attributes: [Attribute(name: "a", type: .integer16)]),
            Entity(name: "F", parent: "E"))
        let after = try model(
            Entity(name: "E", attributes: [Attribute(name: "a", type: .integer32)]),
            Entity(name: "F", parent: "E"))
        let refused = try refusals(before, after)
        #expect(refused.map(\.rule) == [.attributeTypeChanged])
        #expect(refused.allSatisfy { $0.entity == "E" && $0.property == "a" })
    }

    @Test("all refusals are listed")
    func allRefusals() throws {
        let refused = try refusals(
            one(Attribute(name: "a", type: .string), Attribute(name: "b", type: .date)),
            one(Attribute(name: "a", type: .date), Attribute(name: "b", type: .string)))
        #expect(refused.map(\.property) == ["a", "b"])
        let text = InferenceError(refusals: refused).description
        #expect(text.contains("E.a: its type is date"))
        #expect(text.contains("(rule: attribute type changed)"))
    }

    @Test("an old identifier is kept in later versions")
    func keptIdentifier() throws {
        let first = try one(Attribute(name: "timeout", type: .double))
        let renamed = Attribute(name: "local", type: .double, renamingIdentifier: "timeout")
        let second = try one(renamed)
        #expect(try infer(first, second).value("local", of: "E") == .source("timeout"))
        let third = try one(
            renamed, Attribute(name: "synced", type: .double, renamingIdentifier: "synced"))
        let inference = try infer(second, third)
        #expect(try inference.value("local", of: "E") == .source("local"))
        #expect(try inference.value("synced", of: "E") == .null)
        #expect(try infer(first, third).value("local", of: "E") == .source("timeout"))
    }

    @Test("an identifier that found the name leaves nothing to a new property of that name")
    func claimedName() throws {
        let inference = try infer(
            one(Attribute(name: "a", type: .string)),
            one(
                Attribute(name: "a", type: .string, renamingIdentifier: "a"),
                Attribute(name: "b", type: .string, renamingIdentifier: "a")))
        #expect(try inference.value("b", of: "E") == .source("a"))
        #expect(try inference.value("a", of: "E") == .null)
    }

    @Test("identifiers that two properties share are refused")
    func ambiguous() throws {
        let refused = try refusals(
            one(Attribute(name: "a", type: .string)),
            one(
                Attribute(name: "b", type: .string, renamingIdentifier: "a"),
                Attribute(name: "c", type: .string, renamingIdentifier: "a")))
        #expect(refused.map(\.rule) == [.ambiguousIdentifier])
        #expect(refused.first?.property == "b")
    }

    @Test("transient and undefined attributes are not there")
    func transient() throws {
        let stored = try one(Attribute(name: "a", type: .string))
        let transient = try one(Attribute(name: "a", type: .integer16, isTransient: true))
        let undefined = try one(Attribute(name: "a", type: .undefined))
        #expect(try infer(stored, transient).mapping(to: "E").attributes.isEmpty)
        #expect(try infer(transient, stored).value("a", of: "E") == .null)
        #expect(try infer(stored, undefined).mapping(to: "E").attributes.isEmpty)
    }

    @Test("an attribute and a relationship do not become each other")
    func kindChanged() throws {
        let attribute = try model(
            Entity(name: "E", attributes: [Attribute(name: "p", type: .string)]))
        let relationship = try model(
            Entity(name: "E", relationships: [Relationship(name: "p", destination: "E")]))
        #expect(try refusals(attribute, relationship).map(\.rule) == [.propertyKindChanged])
        #expect(try refusals(relationship, attribute).map(\.rule) == [.propertyKindChanged])
    }

    @Test("derived attributes are carried, or left to Core Data")
    func derived() throws {
        let upper = Attribute(
            name: "d", type: .string, isOptional: false,
            derivation: Derivation(expression: "uppercase:(a)"))
        let lower = Attribute(
            name: "d", type: .string, isOptional: false,
            derivation: Derivation(expression: "lowercase:(a)"))
        let new = try infer(one(), one(upper))
        #expect(try new.value("d", of: "E") == .null)
        #expect(new.notes == [.derivedLater(.init("E", "d"))])
        #expect(new.requirements.isEmpty)
        let changed = try infer(one(upper), one(lower))
        #expect(try changed.value("d", of: "E") == .source("d"))
        #expect(changed.notes == [.derivationChanged(.init("E", "d"))])
        #expect(try changed.mapping(to: "E").kind == .transform)
    }

    @Test("another transformer is noted; bytes are carried")
    func transformer() throws {
        let inference = try infer(
            one(Attribute(name: "a", type: .transformable, valueTransformerName: "One")),
            one(Attribute(name: "a", type: .transformable, valueTransformerName: "Two")))
        #expect(try inference.value("a", of: "E") == .source("a"))
        #expect(inference.notes == [.transformerChanged(.init("E", "a"))])
    }

    @Test("elements of composite attributes are mapped by path and renamed by identifier")
    func composite() throws {
        func place(_ elements: Attribute..., isOptional: Bool = false) -> Attribute {
            Attribute(name: "place", type: .composite, isOptional: isOptional, elements: elements)
        }
        let city = Attribute(name: "city", type: .string)
        let before = try one(place(city, Attribute(name: "zip", type: .string)))
        let after = try one(
            place(
                Attribute(name: "town", type: .string, renamingIdentifier: "city"),
                Attribute(name: "country", type: .string, defaultValue: .text("NL"))))
        let inference = try infer(before, after)
        #expect(try inference.value("place.town", of: "E") == .source("place.city"))
        #expect(try inference.value("place.country", of: "E") == .constant(.text("NL")))
        #expect(inference.notes.isEmpty)
        #expect(
            try infer(before, before).mapping(to: "E").attributes.map(\.destination)
                == ["place.city", "place.zip"])

        let required = Attribute(name: "city", type: .string, isOptional: false)
        let demand = DataRequirement.noMissingValue(
            source: .init("E", "place.city"), destination: .init("E", "place.city"))
        #expect(try infer(one(place(city)), one(place(required))).requirements == [demand])
        // An optional composite may be missing as a whole, its required elements with it.
        let optional = try one(place(required, isOptional: true))
        #expect(try infer(one(place(city)), optional).requirements.isEmpty)
        #expect(try infer(optional, one(place(required))).requirements == [demand])
    }

    @Test("composite attributes beyond the depth limit are refused")
    func compositeTooDeep() throws {
        var nested = Attribute(name: "leaf", type: .string)
        for level in 0..<20 {
            nested = Attribute(name: "c\(level)", type: .composite, elements: [nested])
        }
        let deep = try one(nested)
        #expect(try refusals(deep, deep).map(\.rule) == [.compositeTooDeep])
        #expect(Mapping.identity(deep).entityMappings.first?.attributes.isEmpty == true)
    }
}
