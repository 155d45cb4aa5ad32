import ManagedObjectModel
import MappingInference
import MappingModel
import TestSupport
import Testing

@Suite("Ways through the versions of a bundle") struct WaySearchTests {
    /// Versions whose attributes, entities and links get new names that only the next version
    /// knows of.
    private func bundle(_ random: inout SeededGenerator) throws -> [Model] {
        var note = (0..<4).map { Attribute(name: "a\($0)", type: .integer32) }
        var tagName = "Tag"
        var link = "tags"
        var versions: [Model] = []
        var fresh = 0
        for _ in 0..<Int.random(in: 3...8, using: &random) {
            for place in note.indices { note[place].renamingIdentifier = nil }
            var tagIdentifier: String?
            var linkIdentifier: String?
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                fresh += 1
                switch Int.random(in: 0..<7, using: &random) {
                case 0...2:
                    guard let place = note.indices.randomElement(using: &random) else { continue }
                    if note[place].renamingIdentifier == nil {
                        note[place].renamingIdentifier = note[place].name
                    }
                    note[place].name = "b\(fresh)"
                case 3:
                    if let place = note.indices.randomElement(using: &random) {
                        note.remove(at: place)
                    }
                case 4:
                    // A name that was there before comes back.
                    let name = "a\(Int.random(in: 0..<4, using: &random))"
                    let isFree = !note.contains {
                        $0.name == name || $0.renamingIdentifier == name
                    }
                    if isFree { note.append(Attribute(name: name, type: .integer32)) }
                case 5:
                    tagIdentifier = tagIdentifier ?? tagName
                    tagName = "Tag\(fresh)"
                default:
                    linkIdentifier = linkIdentifier ?? link
                    link = "links\(fresh)"
                }
            }
            versions.append(
                try model(
                    Entity(
                        name: "Note", attributes: note,
                        relationships: [
                            Relationship(
                                name: link, destination: tagName, inverse: "notes",
                                minimumCount: 0, maximumCount: 0,
                                renamingIdentifier: linkIdentifier)
                        ]),
                    Entity(
                        name: tagName, attributes: [Attribute(name: "text", type: .string)],
                        relationships: [
                            Relationship(
                                name: "notes", destination: "Note", inverse: link,
                                minimumCount: 0, maximumCount: 0)
                        ], renamingIdentifier: tagIdentifier)))
        }
        return versions
    }

    private func step(_ versions: [Model], _ from: Int, _ to: Int) -> Inference? {
        do throws(InferenceError) {
            return try Inference(from: versions[from], to: versions[to])
        } catch {
            return nil
        }
    }

    /// What a way loses, told from the mapping that all its steps make together.
    private func losses(_ versions: [Model], _ stops: [Int]) throws -> Int? {
        var steps: [ChainStep] = []
        var before = 0
        for stop in stops + [versions.count - 1] {
            guard let inference = step(versions, before, stop) else { return nil }
            steps.append(
                ChainStep(name: "\(stop)", destination: versions[stop], inference: inference))
            before = stop
        }
        let whole = JoinedSteps(from: versions[0], named: "0", steps).inference
        var lost = 0
        for entity in versions[0].numberedEntities {
            let taking = whole.mapping.entityMappings.filter {
                $0.source == entity.name && $0.destination != nil
            }
            if taking.isEmpty { lost += 1 }
            for attribute in entity.attributes
            where !taking.flatMap(\.attributes).contains(where: {
                $0.value == .source(attribute.name)
            }) { lost += 1 }
            for link in entity.relationships {
                let isKept = whole.mapping.entityMappings.contains { mapping in
                    mapping.relationships.contains {
                        $0.source == link.name && mapping.source == entity.name
                            || $0.source == link.inverse && mapping.source == link.destination
                    }
                }
                if !isKept { lost += 1 }
            }
        }
        return lost
    }

    /// Every list of versions in between, in their order.
    private func allStops(_ count: Int) -> [[Int]] {
        (0..<(1 << max(0, count - 2))).map { bits in
            (1..<max(1, count - 1)).filter { bits >> ($0 - 1) & 1 == 1 }
        }
    }

    @Test("no way loses less than the one found", arguments: UInt64(1)...200)
    func best(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let versions = try bundle(&random)
        let search = WaySearch(
            versions.enumerated().map { WaySearch.Version(name: "\($0)", model: $1) },
            through: Set(versions.indices)
        ) { step(versions, $0, $1) }
        let found = try #require(search.ways(from: 0).first)
        let lost = try #require(try losses(versions, found.stops))
        #expect(lost == found.losses.count)
        var least = Int.max
        var shortest = Int.max
        for stops in allStops(versions.count) {
            guard let lost = try losses(versions, stops) else { continue }
            if (lost, stops.count) < (least, shortest) { (least, shortest) = (lost, stops.count) }
        }
        #expect(lost == least)
        #expect(found.stops.count == shortest)
    }

    @Test("a rename that only a version in between knows keeps its values")
    func renamed() throws {
        let versions = [
            try model(Entity(name: "Note", attributes: [Attribute(name: "text", type: .string)])),
            try model(
                Entity(
                    name: "Note",
                    attributes: [
                        Attribute(name: "body", type: .string, renamingIdentifier: "text")
                    ])),
            try model(Entity(name: "Note", attributes: [Attribute(name: "body", type: .string)])),
        ]
        let search = WaySearch(
            versions.enumerated().map { WaySearch.Version(name: "\($0)", model: $1) },
            through: [1]
        ) { step(versions, $0, $1) }
        #expect(search.ways(from: 0).map(\.stops) == [[1], []])
        #expect(search.ways(from: 0).map(\.losses) == [[], ["Note.text"]])
        #expect(search.ways(from: 1).map(\.stops) == [[]])
    }
}
