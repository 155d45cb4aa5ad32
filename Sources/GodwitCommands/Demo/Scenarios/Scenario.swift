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
    var prepare: @Sendable (FilePath, Int) throws -> Void = { _, _ in }
    /// What the scenario needs beyond godwit; nil for nothing.
    var package: WorkerPackage?
    /// What is done with them; gets the number of objects.
    let steps: @Sendable (Int) -> [Step]

    /// All scenarios, by their names.
    static let all: [Scenario] = [
        ClassRegistration.scenario, FiveVersions.scenario, MovingVan.scenario,
        MultiPass.scenario, ResumableImport.scenario, UUIDGroups.scenario,
    ]

    static func named(_ name: String) -> Scenario? { all.first { $0.name == name } }
}

/// A package of docs/examples whose executable runs the jobs of a scenario.
struct WorkerPackage: Sendable {
    /// The name of its folder and of the executable.
    let name: String
    /// The Debian package that it needs.
    let library: String
    /// Makes the stores with programs beside the executable, after the scenario's own preparation;
    /// gets the demo's folder, the number of objects and the folder of the programs.
    let prepare: @Sendable (FilePath, Int, FilePath) throws -> Void

    /// How to build it.
    var advice: String {
        "Install \(library), run swift build -c release in docs/examples/\(name), and give "
            + "--worker-command docs/examples/\(name)/.build/release/\(name). "
            + "bash .ci/demo --scenario \(name) does all of this"
    }
}
