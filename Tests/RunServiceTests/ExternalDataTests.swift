import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import ManagedObjectModel
import MigrationPlans
import MigrationValidation
import RunService
import StoreForge
import StoreRuns
import Testing

/// Values in files beside the store.
@Suite struct ExternalDataTests {
    /// The notes of version 1, with or without external storage of the attachments' contents.
    private func model(isExternal: Bool) throws -> Model {
        let original = try ForgeModels.notes(version: 1)
        let entities = original.numberedEntities.map { entity in
            var copy = entity
            if entity.name == "Attachment" {
                copy.attributes = entity.attributes.map { attribute in
                    attribute.name == "content"
                        ? Attribute(
                            name: "content", type: .binary,
                            allowsExternalBinaryDataStorage: isExternal) : attribute
                }
            }
            return copy
        }
        return try Model(entities: entities, versionIdentifiers: ["external \(isExternal)"])
    }

    /// Contents by key, wherever they lie.
    private func contents(_ lab: StoreLab, _ url: URL, hasPrefix: Bool) throws -> [Int: Data] {
        let files = try lab.externalFiles(url.deletingLastPathComponent())
        let rows = try lab.raw(url) { database in
            try Row.fetchAll(
                database, sql: "SELECT Z_PK, ZCONTENT FROM ZATTACHMENT WHERE ZCONTENT IS NOT NULL")
        }
        var found: [Int: Data] = [:]
        for row in rows {
            let key: Int = row[0]
            let value: Data = row[1]
            guard hasPrefix else {
                found[key] = value
                continue
            }
            if value.first == 1 {
                found[key] = Data(value.dropFirst())
            } else {
                #expect(value.first == 2 && value.count == 38)
                let name = String(decoding: value.dropFirst().dropLast(), as: UTF8.self)
                found[key] = files[name] ?? Data("missing".utf8)
            }
        }
        return found
    }

    private func recipe() throws -> ForgeRecipe {
        var recipe = try StoreLab.recipe(notes: 120)
        recipe.model = try model(isExternal: true)
        return recipe
    }

    @Test(arguments: [Strategy.whole, .partitioned], [false, true])
    func filesAreCarried(strategy: Strategy, links: Bool) throws {
        try StoreLab.run { lab in
            try lab.forge(try recipe())
            let files = try lab.externalFiles(lab.originals)
            #expect(files.count > 3)
            let options = PlanOptions(
                strategy: strategy, chunkBytes: 8192, linksExternalData: links)
            let outcome = try lab.migrate(options: options)
            #expect(outcome.validation.isEqual)
            #expect(try lab.externalFiles(lab.results) == files)
            for name in files.keys {
                let part = ".store_SUPPORT/_EXTERNAL_DATA/\(name)"
                let old = try FileStatus(of: lab.path(lab.originals.appendingPathComponent(part)))
                let new = try FileStatus(of: lab.path(lab.results.appendingPathComponent(part)))
                #expect((old.identity.inode == new.identity.inode) == links)
                #expect(new.links == (links ? 2 : 1))
            }
            #expect(
                try contents(lab, lab.store, hasPrefix: true)
                    == contents(lab, lab.output, hasPrefix: true))
        }
    }

    /// Its owner could lead a result anywhere by it.
    @Test(arguments: [Strategy.whole, .partitioned])
    func aLinkInAFilesPlaceIsNotCarried(strategy: Strategy) throws {
        try StoreLab.run { lab in
            try lab.forge(try recipe())
            let name = try #require(try lab.externalFiles(lab.originals).keys.min())
            let file = lab.originals.appendingPathComponent(
                ".store_SUPPORT/_EXTERNAL_DATA/\(name)")
            let elsewhere = lab.originals.appendingPathComponent("elsewhere")
            try FileManager.default.moveItem(at: file, to: elsewhere)
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: elsewhere)
            try lab.expectRefusal(
                options: PlanOptions(
                    strategy: strategy, chunkBytes: 8192, linksExternalData: true),
                saying: ["symbolic link"])
        }
    }

    @Test(arguments: [Strategy.whole, .partitioned])
    func theFlagMayBeTakenBack(strategy: Strategy) throws {
        try StoreLab.run { lab in
            try lab.forge(try recipe())
            let outcome = try lab.migrate(
                to: .model(try DestinationModel(model: model(isExternal: false))),
                options: PlanOptions(strategy: strategy, chunkBytes: 8192))
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
            let old = try contents(lab, lab.store, hasPrefix: true)
            #expect(old.values.contains { $0.count > 2000 })
            #expect(try contents(lab, lab.output, hasPrefix: false) == old)
            #expect(try lab.externalFiles(lab.results).isEmpty)
        }
    }

    @Test(arguments: [Strategy.whole, .partitioned])
    func theFlagMayBeGiven(strategy: Strategy) throws {
        try StoreLab.run { lab in
            var recipe = try recipe()
            recipe.model = try model(isExternal: false)
            recipe.externalThreshold = nil
            try lab.forge(recipe)
            let outcome = try lab.migrate(
                to: .model(try DestinationModel(model: model(isExternal: true))),
                options: PlanOptions(strategy: strategy, chunkBytes: 8192))
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
            #expect(
                try contents(lab, lab.output, hasPrefix: true)
                    == contents(lab, lab.store, hasPrefix: false))
        }
    }

    @Test func missingFilesAreListed() throws {
        try StoreLab.run { lab in
            try lab.forge(try recipe())
            let folder = lab.originals.appendingPathComponent(".store_SUPPORT/_EXTERNAL_DATA")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            for name in names.prefix(2) {
                try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
            }
            try lab.expectRefusal(saying: ["2 external data files", "keep the references"])
            let outcome = try lab.migrate(options: PlanOptions(allowsMissingExternalData: true))
            #expect(outcome.validation.isEqual)
            #expect(try lab.externalFiles(lab.results).count == names.count - 2)
            let said = (outcome.plan.notes + outcome.validation.lines).joined(separator: "\n")
            #expect(said.contains("2"))
            #expect(said.lowercased().contains("missing") || said.contains("not there"), "\(said)")
        }
    }

    /// References that are no names of files stay what they are and lead nowhere.
    @Test func namesThatLeaveTheFolder() throws {
        let evil = [
            "../../../../../../../../etc/passwd  ", "/etc/passwd                         ",
            "........-....-....-....-............", "B0E7A6F6/0000/4000/8000/000000000001",
            "B0E7A6F6-0000-4000-8000-00000000\u{0}001",
        ]
        try StoreLab.run { lab in
            try lab.forge(try recipe())
            try lab.raw { database in
                for (place, name) in evil.enumerated() {
                    let value = Data([2] + Array(name.utf8.prefix(36)) + [0])
                    #expect(value.count == 38)
                    try database.execute(
                        sql: "UPDATE ZATTACHMENT SET ZCONTENT = ? WHERE Z_PK = (SELECT Z_PK FROM "
                            + "ZATTACHMENT ORDER BY Z_PK LIMIT 1 OFFSET ?)",
                        arguments: [value, place])
                }
            }
            let outcome = try lab.migrate()
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
            let all = "SELECT Z_PK, hex(ZCONTENT) FROM ZATTACHMENT ORDER BY 1"
            let values = { (url: URL) in
                try lab.raw(url) { try Row.fetchAll($0, sql: all).map(\.debugDescription) }
            }
            #expect(try values(lab.store) == values(lab.output))
            let names = try FileManager.default.contentsOfDirectory(atPath: lab.results.path)
            #expect(Set(names) == ["store.sqlite", ".store_SUPPORT"])
            // Where external storage ends they are values like others: kept as they stand.
            try FileManager.default.removeItem(at: lab.results)
            try FileManager.default.createDirectory(
                at: lab.results, withIntermediateDirectories: false)
            let plain = try DestinationModel(model: model(isExternal: false))
            let inlined = try lab.migrate(to: .model(plain))
            #expect(inlined.validation.isEqual, "\(inlined.validation.lines)")
            let carried = try values(lab.output)
            let original = try values(lab.store)
            #expect(zip(carried, original).prefix(evil.count).allSatisfy { $0 == $1 })
        }
    }
}
