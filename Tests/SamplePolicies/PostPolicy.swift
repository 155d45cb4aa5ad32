import Godwit

/// Makes a section of every post.
struct Post2ToPost3MigrationPolicy: MigrationPolicy {
    static let className = "CoreDataMigration_Example.Post2ToPost3MigrationPolicy"
    static let effects = PolicyEffects(creates: [.inserted("Section")], carries: ["content"])

    mutating func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        let content = try source.string("content")
        let section = try context.insert("Section")
        try section.set("body", to: content.map { .string($0) })
        try section.set("title", to: content.map { .string("\($0.prefix(4))...") })
        try section.set("index", to: 0)
        try destination.associate("sections", with: section)
    }
}
