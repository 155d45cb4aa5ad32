import Foundation
import ManagedObjectModel
import ModelFiles
import TestSupport
import Testing

@Suite("Model archives")
struct ModelArchiveTests {
    @Test("A model with one of everything comes back from its archive")
    func roundTrip() throws {
        let model = try ArchiveSamples.model()
        let bytes = try ModelArchive.write(model)
        let read = try ModelArchive.read(bytes)
        #expect(read == model)
        for (name, entity) in model.entities { #expect(read.entities[name] == entity) }
        #expect(try ModelArchive.write(read) == bytes)
    }

    @Test("The archive has Core Data's shape")
    func shape() throws {
        let list = try BinaryPropertyList.read(try ModelArchive.write(ArchiveSamples.model()))
        #expect(list["$version"] == .integer(100_000))
        let objects = try #require(list["$objects"]?.elements)
        #expect(objects.first == .string("$null"))
        func follow(_ reference: PropertyList?) -> PropertyList? {
            guard case .uid(let number)? = reference else { return nil }
            return objects[Int(number)]
        }
        func className(_ object: PropertyList?) -> String? {
            follow(object?["$class"])?["$classname"]?.text
        }
        let root = follow(list["$top"]?["root"])
        #expect(className(root) == "NSManagedObjectModel")
        let entities = follow(root?["NSEntities"])
        #expect(className(entities) == "NSKnownKeysDictionary1")
        let names = follow(follow(entities?["searchMapping"])?["keys"])?["NS.objects"]?.elements
        #expect(names?.map { follow($0)?.text } == ["Book", "Document", "Page", "Place"])
        let book = follow(follow(entities?["values"])?["NS.objects"]?.elements?.first)
        #expect(follow(follow(book?["NSSuperentity"])?["NSEntityName"])?.text == "Document")
        // Inherited ones are there again, as copies that belong to the sub-entity.
        let properties = follow(book?["NSProperties"])
        let keys = properties?["NS.keys"]?.elements?.compactMap { follow($0)?.text } ?? []
        #expect(keys.contains("title"))
        let place = try #require(keys.firstIndex(of: "title"))
        let title = follow(properties?["NS.objects"]?.elements?[place])
        #expect(follow(title?["NSEntity"]) == book)
        #expect(title?["_P"] == .integer(0x33))
    }

    @Test("Attributes of unknown types are named with their number")
    func unknownType() throws {
        let bytes = try ModelArchive.write(
            Model(entities: [
                Entity(name: "Thing", attributes: [Attribute(name: "size", type: .objectID)])
            ]))
        let list = try BinaryPropertyList.read(bytes)
        let objects = try #require(list["$objects"]?.elements).map {
            $0["NSAttributeType"] == nil ? $0 : $0.setting("NSAttributeType", to: .integer(2200))
        }
        let altered = BinaryPropertyList.write(list.setting("$objects", to: .array(objects)))
        #expect {
            try ModelArchive.read(altered)
        } throws: { error in
            guard case ModelError.unsupported(let text)? = error as? ModelError else {
                return false
            }
            return text.contains("Thing.size") && text.contains("2200")
        }
    }

    @Test("An object with more fields than any of Core Data's is refused")
    func manyFields() throws {
        let list = try BinaryPropertyList.read(try ModelArchive.write(ArchiveSamples.model()))
        for (count, isRead) in [(200, true), (260, false)] {
            let objects = try #require(list["$objects"]?.elements).map { object in
                guard object["NSEntityName"] != nil else { return object }
                return (0..<count).reduce(object) { $0.setting("field\($1)", to: .integer(1)) }
            }
            let altered = BinaryPropertyList.write(list.setting("$objects", to: .array(objects)))
            let read = Result { try ModelArchive.read(altered) }
            if isRead {
                _ = try read.get()
            } else {
                let error = #expect(throws: ModelError.self) { try read.get() }
                #expect(try #require(error).description.contains("fields"))
            }
        }
    }

    @Test("Predicates and expressions that are mere text are not guessed at")
    func textOnly() throws {
        var index = FetchIndex(name: "x", elements: [FetchIndexElement(.property("a"))])
        index.partialPredicate = .unsupported("a MATCHES \"b\"")
        var entity = Entity(name: "E", attributes: [Attribute(name: "a", type: .string)])
        entity.fetchIndexes = [index]
        let partial = try Model(entities: [entity])
        #expect(throws: ModelError.self) { try ModelArchive.write(partial) }
        entity.fetchIndexes = []
        entity.attributes[0].derivation = Derivation(expression: "a + 1")
        let derived = try Model(entities: [entity])
        #expect(throws: ModelError.self) { try ModelArchive.write(derived) }
    }

    @Test(
        "Derivations keep their text",
        arguments: [
            "name", "owner.name", "pages.@count", "now()", "canonical:(name)", "uppercase:(name)",
            "lowercase:(a.b)", "sum:(pages.size)", "max:(a, b)", "first:(upper:(a), b.@max)",
        ])
    func derivation(text: String) throws {
        var attribute = Attribute(name: "d", type: .string, valueClassName: "NSString")
        attribute.derivation = Derivation(expression: text)
        let model = try Model(entities: [Entity(name: "E", attributes: [attribute])])
        let read = try ModelArchive.read(ModelArchive.write(model))
        #expect(read.entities["E"]?.attributes.first?.derivation?.expression == text)
    }

    @Test(
        "Decimal numbers keep value and places",
        arguments: [
            "0", "0.00", "-12.50", "5000", "0.0005", "340282366920938463463374607431768211455",
            "1000000000000000000000000000000000000000000000000000", "-0.1",
        ])
    func decimal(text: String) throws {
        let attribute = Attribute(name: "d", type: .decimal, defaultValue: .decimal(text))
        let model = try Model(entities: [Entity(name: "E", attributes: [attribute])])
        let read = try ModelArchive.read(ModelArchive.write(model))
        #expect(read.entities["E"]?.attributes.first?.defaultValue == .decimal(text))
    }

    @Test("Cut off at any byte, an archive is refused")
    func truncation() throws {
        let bytes = try ModelArchive.write(ArchiveSamples.model())
        for end in bytes.indices {
            #expect(throws: ModelError.self) { try ModelArchive.read(Array(bytes[..<end])) }
        }
    }

    @Test("Altered archives are refused, or read as a model that can be used", arguments: 1...8)
    func alteration(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bytes = try ModelArchive.write(ArchiveSamples.model())
        var accepted = 0
        for _ in 0..<300 {
            var altered = bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: altered.indices, using: &random)
                altered[place] = UInt8.random(in: 0...255, using: &random)
            }
            guard let model = try? ModelArchive.read(altered) else { continue }
            accepted += 1
            _ = VersionHashes(model)
            if let written = try? ModelArchive.write(model) {
                #expect(try ModelArchive.write(ModelArchive.read(written)) == written)
            }
        }
        #expect(accepted > 0)
    }

    @Test(
        "Every archive of the fixtures reads and comes back with the same hashes",
        .enabled(if: Fixtures.available, Fixtures.absence))
    func fixtures() throws {
        let archives = try FixtureArchives.all()
        #expect(archives.count >= 80)
        for (name, bytes) in archives {
            let model = try ModelArchive.read(bytes)
            let written = try ModelArchive.write(model)
            let read = try ModelArchive.read(written)
            #expect(read == model, "\(name)")
            #expect(VersionHashes(read) == VersionHashes(model), "\(name)")
        }
    }

    @Test(
        "The model cached in a store has the hashes of the store's metadata",
        .enabled(if: Fixtures.available, Fixtures.absence))
    func hashes() throws {
        var entities = 0
        for store in try FixtureArchives.stores() {
            guard let cached = store.cachedModel else { continue }
            let model = try ModelArchive.read(Deflate.inflate(cached))
            let metadata = try BinaryPropertyList.read(store.metadata)
            let stored = try #require(metadata["NSStoreModelVersionHashes"]?.entries)
            #expect(Set(stored.map(\.key)) == Set(model.entities.keys), "\(store.name)")
            let hashes = VersionHashes(model)
            for entry in stored {
                #expect(
                    hashes.entities[entry.key] == entry.value.bytes,
                    "\(store.name): \(entry.key)")
                entities += 1
            }
        }
        #expect(entities >= 900)
    }
}
