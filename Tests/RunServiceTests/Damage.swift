import DurableFiles
import ManagedObjectModel
import RunReports
import StoreForge
import Testing

/// One way in which a store can be bad, and what its refusal must say.
struct Damage: Sendable, CustomTestStringConvertible {
    let name: String
    let words: [String]
    let journal: ForgeRecipe.Journal
    let make: @Sendable (StoreLab) throws -> Void

    init(
        _ name: String, _ words: String..., journal: ForgeRecipe.Journal = .writeAheadLog,
        make: @escaping @Sendable (StoreLab) throws -> Void
    ) {
        self.name = name
        self.words = words
        self.journal = journal
        self.make = make
    }

    /// A damage that statements do.
    init(_ name: String, _ words: String..., sql: String) {
        self.name = name
        self.words = words
        journal = .writeAheadLog
        make = { try $0.damage(sql) }
    }

    /// A damage that changes a text of the schema behind SQLite's back.
    init(_ name: String, _ words: String..., schema sql: String) {
        self.name = name
        self.words = words
        journal = .writeAheadLog
        make = { lab in
            try lab.damage("PRAGMA writable_schema = ON; \(sql)")
        }
    }

    var testDescription: String { name }

    /// Forges a good store, damages it, and expects it to be refused as a bad one.
    func check() throws {
        try StoreLab.run { lab in
            var recipe = try StoreLab.recipe()
            recipe.journal = journal
            try lab.forge(recipe)
            try make(lab)
            let refused = try lab.expectRefusal(saying: words)
            #expect(refused?.status == .badData, "\(refused?.text ?? "")")
        }
    }
}
