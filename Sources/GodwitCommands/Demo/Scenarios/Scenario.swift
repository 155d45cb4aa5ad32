import DurableFiles

/// A published account of a migration by hand, as something that anybody can run here.
struct Scenario: Sendable {
    /// One thing that the demo does, in order.
    enum Step: Sendable {
        /// Tells what comes next.
        case say(String)
        /// Runs a command of godwit in the demo's folder, and expects a status.
        case run([String], status: Int32 = 0)
        /// Runs a command and kills it as soon as a folder has so few part files left.
        case kill([String], folder: String, left: Int)
        /// Does what an app or an operator would do, in words and deed.
        case act(String, @Sendable (FilePath) throws -> Void)
    }

    /// What `--scenario` takes.
    let name: String
    /// What `--objects` counts, and how many there are without it.
    let unit: String
    let objects: Int
    /// Texts by their paths below the demo's folder: models, mapping models.
    let files: [String: String]
    /// Makes the stores or parts; gets the demo's folder and the number of objects.
    let prepare: @Sendable (FilePath, Int) throws -> Void
    /// What is done with them; gets the number of objects.
    let steps: @Sendable (Int) -> [Step]

    /// All scenarios, by their names.
    static let all: [Scenario] = [
        .classRegistration, .fiveVersions, .multiPass, .resumableImport, .uuidGroups,
    ]

    static func named(_ name: String) -> Scenario? { all.first { $0.name == name } }
}
