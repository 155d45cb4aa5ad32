/// A program of the user that changes a store between two steps.
package struct StepProgram: Hashable, Sendable, Codable {
    /// As the file of steps names it, for messages.
    package let name: String
    /// Its absolute path.
    package let path: String
    /// What it is given; the path of the store comes after them.
    package let arguments: [String]
    /// The absolute path of the folder in which it runs: that of the file of steps.
    package let folder: String

    package init(name: String, path: String, arguments: [String], folder: String) {
        self.name = name
        self.path = path
        self.arguments = arguments
        self.folder = folder
    }

    /// Why a store is written on which programs run; nil without programs.
    package static func reasonToWrite(_ programs: [StepProgram]) -> String? {
        guard !programs.isEmpty else { return nil }
        let names = programs.map(\.name).joined(separator: " and ")
        return "\(names) \(programs.count == 1 ? "runs" : "run") on it"
    }
}

/// What a file of steps says of the step to a version.
package struct StepDirections: Hashable, Sendable, Codable {
    /// The mapping file of this step alone; nil takes one for the versions, or infers.
    package var mapping: MappingChoice?
    /// Runs on the store before the step, in whichever version it then is.
    package var before: StepProgram?
    /// Runs on the store that the step gives.
    package var after: StepProgram?

    package init(
        mapping: MappingChoice? = nil, before: StepProgram? = nil, after: StepProgram? = nil
    ) {
        self.mapping = mapping
        self.before = before
        self.after = after
    }

    /// Whether nothing is said.
    package var isEmpty: Bool { mapping == nil && before == nil && after == nil }

    /// Its programs, in the order in which they run.
    package var programs: [StepProgram] { [before, after].compactMap { $0 } }
}
