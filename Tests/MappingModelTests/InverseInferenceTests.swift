import ManagedObjectModel
import MappingInference
import MappingModel
import Testing

@Suite("Inference: inverses")
struct InverseInferenceTests {
    @Test("a side that lost its name takes the inverse of the other side's source")
    func completed() throws {
        let renamedUp = try infer(
            family(), family(children(inverse: "mother"), parent("mother", isOptional: false)))
        #expect(try renamedUp.links("mother", of: "Child") == "parent")
        #expect(try renamedUp.links("children", of: "Parent") == "children")
        #expect(
            renamedUp.requirements == [
                .linkCount(
                    source: .init("Child", "parent"), destination: .init("Child", "mother"),
                    bounds: LinkBounds(parent(isOptional: false)))
            ])
        let renamedDown = try infer(
            family(), family(children("kids"), parent(inverse: "kids")))
        #expect(try renamedDown.links("kids", of: "Parent") == "children")
    }

    @Test("sides that come from different relationships are refused once")
    func disagreeing() throws {
        func pairs(_ first: String, _ second: String) throws -> Model {
            let inverse = first == "x" ? ("x", "y") : ("y", "x")
            return try model(
                Entity(
                    name: "Parent",
                    relationships: [
                        children("a", inverse: first), children("b", inverse: second),
                    ]),
                Entity(
                    name: "Child",
                    relationships: [
                        parent(inverse.0, inverse: "a"), parent(inverse.1, inverse: "b"),
                    ]))
        }
        let straight = try pairs("x", "y")
        #expect(try infer(straight, straight).requirements.isEmpty)
        let refused = try refusals(straight, pairs("y", "x"))
        #expect(refused.map(\.rule) == [.ambiguousInverse, .ambiguousInverse])
        #expect(Set(refused.map { "\($0.entity).\($0.property ?? "")" }) == ["Child.x", "Child.y"])
    }

    @Test("relationships without inverse do not become a pair")
    func newPair() throws {
        let separate = try family(children(inverse: nil), parent(inverse: nil))
        #expect(try refusals(separate, family()).map(\.rule) == [.ambiguousInverse])
        #expect(try infer(family(), separate).requirements.isEmpty)
    }

    @Test("a new to-one inverse asks that links lead to different objects")
    func newInverse() throws {
        let oneWay = try model(
            Entity(name: "Parent", relationships: [children(inverse: nil)]), Entity(name: "Child"))
        let inference = try infer(oneWay, family())
        #expect(try inference.links("parent", of: "Child") == nil)
        let down = PropertyReference("Parent", "children")
        #expect(inference.requirements == [.distinctTargets(source: down, destination: down)])
        let toMany = try infer(oneWay, family(children(), parent(maximum: 0)))
        #expect(toMany.requirements.isEmpty)
    }

    @Test("a to-many without inverse asks that links lead to different objects")
    func lostInverse() throws {
        let down = PropertyReference("Parent", "children")
        let alone = try model(
            Entity(name: "Parent", relationships: [children(inverse: nil)]), Entity(name: "Child"))
        #expect(try infer(family(), alone).requirements.isEmpty)
        #expect(
            try infer(family(children(), parent(maximum: 0)), alone).requirements
                == [.distinctTargets(source: down, destination: down)])
    }

    @Test("pairs of sub-entities come together in a parent")
    func movedUp() throws {
        func pet(_ name: String, _ inverse: String) -> Entity {
            Entity(
                name: name,
                relationships: [
                    Relationship(name: "owner", destination: "Person", inverse: inverse)
                ])
        }
        func pets(_ name: String, _ destination: String) -> Relationship {
            Relationship(
                name: name, destination: destination, inverse: "owner", maximumCount: 0)
        }
        let separate = try model(
            pet("Cat", "cats"), pet("Dog", "dogs"),
            Entity(name: "Person", relationships: [pets("cats", "Cat"), pets("dogs", "Dog")]))
        func together(_ pets: Relationship) throws -> Model {
            try model(
                pet("Animal", pets.name), Entity(name: "Cat", parent: "Animal"),
                Entity(name: "Dog", parent: "Animal"),
                Entity(name: "Person", relationships: [pets]))
        }
        let inference = try infer(separate, together(pets("pets", "Animal")))
        #expect(try inference.links("owner", of: "Dog") == "owner")
        #expect(try inference.links("owner", of: "Cat") == "owner")
        // Two sources: the links are those of the inverse.
        #expect(try inference.links("pets", of: "Person") == nil)

        var fromDogs = pets("pets", "Animal")
        fromDogs.renamingIdentifier = "dogs"
        #expect(try refusals(separate, together(fromDogs)).map(\.rule) == [.ambiguousInverse])

        var single = pets("pets", "Animal")
        single.maximumCount = 1
        let refused = try refusals(separate, together(single))
        #expect(refused.map(\.rule) == [.ambiguousInverse])
        #expect(refused.first?.explanation.contains("Person.cats and Person.dogs") == true)
    }

    @Test("a relationship that is its own inverse")
    func ownInverse() throws {
        func friends(_ inverse: String?) throws -> Model {
            try model(
                Entity(
                    name: "Person",
                    relationships: [
                        Relationship(
                            name: "friends", destination: "Person", inverse: inverse,
                            maximumCount: 0)
                    ]))
        }
        let mutual = try friends("friends")
        #expect(try infer(mutual, mutual).mapping == .identity(mutual))
        // Each link leads both ways, which only such a relationship can hold.
        #expect(try refusals(mutual, friends(nil)).map(\.rule) == [.ambiguousInverse])
        #expect(try refusals(friends(nil), mutual).map(\.rule) == [.ambiguousInverse])
    }
}
