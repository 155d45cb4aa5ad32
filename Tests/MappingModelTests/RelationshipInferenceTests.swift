import ManagedObjectModel
import MappingInference
import MappingModel
import Testing

@Suite("Inference: relationships")
struct RelationshipInferenceTests {
    private let down = PropertyReference("Parent", "children")
    private let up = PropertyReference("Child", "parent")

    @Test("added, removed and renamed")
    func renamed() throws {
        let renamed = try infer(
            family(),
            family(
                children("kids", inverse: "mother", identifier: "children"),
                parent("mother", inverse: "kids", identifier: "parent")))
        #expect(try renamed.links("kids", of: "Parent") == "children")
        #expect(try renamed.links("mother", of: "Child") == "parent")
        #expect(renamed.requirements.isEmpty)
        #expect(renamed.notes.isEmpty)

        let bare = try model(Entity(name: "Parent"), Entity(name: "Child"))
        let added = try infer(bare, family())
        #expect(try added.links("children", of: "Parent") == nil)
        #expect(try added.links("parent", of: "Child") == nil)
        #expect(added.requirements.isEmpty)
        let removed = try infer(family(), bare)
        #expect(removed.requirements.isEmpty && removed.notes.isEmpty)
    }

    @Test("a new required relationship allows no objects")
    func newRequired() throws {
        let bare = try model(Entity(name: "Parent"), Entity(name: "Child"))
        let inference = try infer(bare, family(children(), parent(isOptional: false)))
        #expect(
            inference.requirements
                == [.noObjects(entity: "Child", reason: .requiredRelationship(up))])
    }

    @Test("to-many becomes to-one, and back")
    func toOne() throws {
        let one = try family(children(maximum: 1))
        let many = try family()
        #expect(
            try infer(many, one).requirements == [.atMostOne(source: down, destination: down)])
        #expect(try infer(one, many).requirements.isEmpty)
        #expect(try infer(one, many).links("children", of: "Parent") == "children")
        // −1 is another word for any number.
        #expect(try infer(many, family(children(maximum: -1))).requirements.isEmpty)
    }

    @Test("ordered and unordered")
    func ordered() throws {
        let plain = try family()
        let ordered = try family(children(isOrdered: true))
        #expect(try infer(plain, ordered).notes == [.orderAssigned(down)])
        #expect(try infer(ordered, plain).notes == [.orderDropped(down)])
        #expect(try infer(plain, ordered).requirements.isEmpty)
        #expect(try infer(plain, ordered).mapping(to: "Parent").kind == .transform)
        #expect(try infer(family(children(maximum: 1)), ordered).notes.isEmpty)
    }

    @Test(
        "tighter bounds are asked of the data",
        arguments: [
            // Stores have such objects with no links at all.
            (children(), children(isOptional: false), false),
            (children(), children(minimum: 2), true),
            (children(), children(minimum: 1), false),
            (children(maximum: 5), children(maximum: 3), true),
            (children(), children(maximum: 3), true),
            (children(maximum: 3), children(maximum: 5), false),
            (children(isOptional: false), children(), false),
            (children(isOptional: false, minimum: 3), children(isOptional: false), false),
            (children(isOptional: false), children(isOptional: false, minimum: 1), true),
        ])
    func bounds(before: Relationship, after: Relationship, isTighter: Bool) throws {
        let demand = DataRequirement.linkCount(
            source: down, destination: down, bounds: LinkBounds(after))
        #expect(
            try infer(family(before), family(after)).requirements == (isTighter ? [demand] : []))
    }

    @Test("an optional to-one becomes required")
    func toOneRequired() throws {
        let inference = try infer(family(), family(children(), parent(isOptional: false)))
        let bounds = LinkBounds(parent(isOptional: false))
        #expect(
            inference.requirements == [.linkCount(source: up, destination: up, bounds: bounds)])
        #expect(bounds.text == "1")
        #expect(LinkBounds(children()).text == "none or at least 0")
    }

    @Test("targets must stay below the destination entity")
    func targets() throws {
        func animals(_ destination: String, isOptional: Bool = true, cats: Bool = true) throws
            -> Model
        {
            let pet = Relationship(
                name: "pet", destination: destination, isOptional: isOptional)
            return try Model(
                entities: [
                    Entity(name: "Animal", isAbstract: true), Entity(name: "Dog", parent: "Animal"),
                    Entity(name: "Owner", relationships: [pet]),
                ] + (cats ? [Entity(name: "Cat", parent: "Animal")] : []))
        }
        let pet = PropertyReference("Owner", "pet")
        let all = try animals("Animal")
        #expect(try infer(all, all).requirements.isEmpty)
        #expect(try infer(animals("Dog"), all).requirements.isEmpty)
        #expect(
            try infer(all, animals("Dog")).requirements
                == [.noTargets(source: pet, destination: pet, ofEntities: ["Animal", "Cat"])])

        let removed = try infer(all, animals("Animal", cats: false))
        #expect(removed.requirements.isEmpty)
        #expect(removed.notes == [.linksDropped(pet, ofEntities: ["Cat"])])
        let required = try infer(
            animals("Animal", isOptional: false),
            animals("Animal", isOptional: false, cats: false))
        #expect(
            required.requirements
                == [.noTargets(source: pet, destination: pet, ofEntities: ["Cat"])])
    }

    @Test("a renamed target stays a target")
    func renamedTarget() throws {
        let inference = try infer(
            model(
                Entity(name: "A", relationships: [Relationship(name: "r", destination: "B")]),
                Entity(name: "B")),
            model(
                Entity(name: "A", relationships: [Relationship(name: "r", destination: "C")]),
                Entity(name: "C", renamingIdentifier: "B")))
        #expect(try inference.links("r", of: "A") == "r")
        #expect(inference.requirements.isEmpty)
        #expect(inference.notes.isEmpty)
    }

    @Test("transient relationships are not there")
    func transient() throws {
        let stored = try model(
            Entity(name: "E", relationships: [Relationship(name: "r", destination: "E")]))
        let transient = try model(
            Entity(
                name: "E",
                relationships: [Relationship(name: "r", destination: "E", isTransient: true)]))
        #expect(try infer(stored, transient).mapping(to: "E").relationships.isEmpty)
        #expect(try infer(transient, stored).links("r", of: "E") == nil)
    }
}
