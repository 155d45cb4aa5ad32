import Godwit

/// Makes a section of every post, from the post's content.
struct PostPolicy: MigrationPolicy {
    static let className = "App.PostPolicy"
    static let effects = PolicyEffects(
        creates: [.inserted("Section")], carries: ["content"])

    func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        guard let content = try source.string("content") else {
            throw PolicyRefusal("the post has no content")
        }
        let section = try context.insert("Section")
        try section.set("body", to: .string(content))
        try section.set("title", to: .string("\(content.prefix(4))..."))
        try destination.associate("sections", with: section)
    }
}

GodwitExecutable.main(policies: [PostPolicy.self])
