import Godwit

/// Finds or makes the continent of every country.
struct Country5ToCountry6Policy: MigrationPolicy {
    static let className = "Migrations.Country5ToCountry6Policy"
    static let effects = PolicyEffects(
        sets: ["continent"], creates: [.found("Continent", by: ["numericISO3166Code"])],
        carries: ["isoContinent"])

    mutating func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        guard let code = try source.integer("isoContinent") else { return }
        let continent = try context.findOrInsert(
            "Continent", key: ["numericISO3166Code": .integer(code)])
        try destination.associate("continent", with: continent)
    }
}
