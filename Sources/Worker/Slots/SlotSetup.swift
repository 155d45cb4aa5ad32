package import DurableFiles

/// What a slot's process is told when it starts, as arguments of its program.
package struct SlotSetup: Hashable, Sendable {
    /// Folders by the name that jobs give them.
    package var roots: [String: FilePath]
    /// How often a running job's progress is looked at.
    package var reportMilliseconds: Int
    /// Whether jobs may run programs between two steps: those of a run on this machine, which the
    /// person who named them has begun.
    package var runsPrograms = false

    package init(roots: [String: FilePath], reportMilliseconds: Int = 1000) {
        self.roots = roots
        self.reportMilliseconds = reportMilliseconds
    }

    /// The names of the options that `arguments` uses.
    package static let (rootOption, reportOption, programsOption) = ("root", "report", "programs")

    /// The setup as options: `--report 1000 --root name=folder`, folders escaped.
    var arguments: [String] {
        ["--\(Self.reportOption)", "\(reportMilliseconds)"]
            + roots.sorted { $0.key < $1.key }.flatMap { name, folder in
                ["--\(Self.rootOption)", "\(name)=\(folder)"]
            } + (runsPrograms ? ["--\(Self.programsOption)"] : [])
    }

    /// Reads the values of the options.
    ///
    /// - Parameters:
    ///   - roots: each `name=folder`.
    ///   - reportMilliseconds: at least 1.
    /// - Throws: `SlotError.nonsense` for a value that `arguments` never gives.
    package init(roots: [String], reportMilliseconds: Int) throws(SlotError) {
        var known: [String: FilePath] = [:]
        for text in roots {
            guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
                throw .nonsense("the root \(text) is not written as name=folder")
            }
            let folder = String(text[text.index(after: sign)...])
            known[String(text[..<sign])] = FilePath(escaped: folder) ?? FilePath(folder)
        }
        guard reportMilliseconds > 0 else { throw .nonsense("a report every 0 ms") }
        self.init(roots: known, reportMilliseconds: reportMilliseconds)
    }
}
