import Foundation
import ManagedObjectModel
import ModelFiles
import TestSupport
import Testing

/// Names that Core Data cannot store are refused wherever a model is read.
@Suite struct ModelNamesTests {
    private enum Place: CaseIterable {
        case entity, attribute, element, relationship
    }

    private func model(_ name: String, at place: Place) throws -> Model {
        var entity = Entity(name: place == .entity ? name : "Thing")
        entity.attributes = [
            Attribute(name: place == .attribute ? name : "value", type: .string)
        ]
        if place == .element {
            var composite = Attribute(name: "place", type: .composite)
            composite.elements = [Attribute(name: name, type: .double)]
            entity.attributes.append(composite)
        }
        if place == .relationship {
            entity.relationships = [
                Relationship(name: name, destination: entity.name)
            ]
        }
        return try Model(entities: [entity])
    }

    /// A store has a name's bytes: models are told apart by them.
    @Test func equivalentNamesMakeOtherModels() throws {
        for place in Place.allCases {
            let models = try ["caf\u{E9}", "cafe\u{301}"].map { try model($0, at: place) }
            #expect(models[0] != models[1])
            #expect(try models[0] == model("caf\u{E9}", at: place))
        }
        let defaults = try ["\u{212A}", "K"].map { text in
            try Model(entities: [
                Entity(
                    name: "Thing",
                    attributes: [
                        Attribute(name: "value", type: .string, defaultValue: .text(text))
                    ])
            ])
        }
        #expect(defaults[0] != defaults[1])
    }

    private func refusal(_ body: () throws -> Model) throws -> String? {
        do {
            _ = try body()
            return nil
        } catch let error as ModelError {
            return error.description
        }
    }

    @Test func hostileNamesAreRefusedByEveryReader() throws {
        for name in HostileNames.known(canary: "/tmp/x.sqlite") + ["", "1st", "$x"] {
            for place in Place.allCases where !(name.isEmpty && place == .entity) {
                let made = try model(name, at: place)
                if place != .element {
                    let archive = try ModelArchive.write(made)
                    let words = try refusal { try ModelArchive.read(archive) }
                    #expect(words != nil, "\(place) \(name)")
                }
                let coded = try JSONEncoder().encode(made)
                let words = try refusal { try JSONDecoder().decode(Model.self, from: coded) }
                #expect(words?.contains("Rename it in the model") == true, "\(place) \(name)")
                let isShown = words?.unicodeScalars.allSatisfy {
                    $0.properties.generalCategory != .control
                }
                #expect(isShown == true, "\(place) \(name)")
            }
        }
    }

    @Test func xmlWithHostileNamesIsRefused() throws {
        let names = ["x integer); commit; attach 'a' as b; create table c(d", "x&quot;", "a b"]
        for name in names {
            let text = """
                <model><entity name="Thing"><attribute name="\(name)" attributeType="String"/>\
                </entity></model>
                """
            let words = try refusal { try XMLModelReader.read(Array(text.utf8)) }
            #expect(words?.contains("attribute Thing.") == true, "\(words ?? "")")
        }
    }

    @Test func ordinaryNamesAreRead() throws {
        for name in HostileNames.harmless {
            for place in Place.allCases where place != .element {
                let made = try model(name, at: place)
                let read = try ModelArchive.read(ModelArchive.write(made))
                let names = { (model: Model) in
                    model.entities.values.map { [$0.name] + $0.propertyNames }
                }
                #expect(names(read) == names(made), "\(name)")
            }
        }
    }

    /// Names of indexes, classes and configurations and renaming identifiers are free.
    @Test func freeNamesAreRead() throws {
        let name = "x\"); DROP TABLE t; --"
        var entity = Entity(name: "Thing", className: name, renamingIdentifier: name)
        entity.attributes = [Attribute(name: "value", type: .string, renamingIdentifier: name)]
        entity.fetchIndexes = [FetchIndex(name: name, elements: [.init(.property("value"))])]
        let made = try Model(entities: [entity], configurations: [name: ["Thing"]])
        let read = try ModelArchive.read(ModelArchive.write(made))
        #expect(read.entities["Thing"]?.fetchIndexes.map(\.name) == [name])
        #expect(read.configurations.keys.contains(name))
    }
}
