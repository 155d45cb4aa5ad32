/// What library code must not use, and the places at the edge where it may.
struct BannedRules {
    /// As written in code.
    let text: String
    let reason: String
    /// Starts of paths where it may stand.
    var allowed: [String] = []
    /// A call of it is fine with this argument.
    var argument: String?

    private static let edge = [
        "Sources/CommandSupport/", "Sources/ModelCommands/", "Sources/RunCommands/",
        "Sources/GodwitCommands/", "Sources/godwit/", "Sources/godwit-bench/",
        "Sources/godwit-sim/",
    ]

    private static let time = "clocks come in from outside"
    private static let random = "randomness and ids come in from outside"
    private static let swallowed = "errors are returned, never swallowed"
    private static let trap = "what input can reach throws"
    private static let tasks = "work runs on threads that we own"
    private static let printing = "only the command line prints"

    static let all: [BannedRules] = [
        .init(text: "Date()", reason: time, allowed: edge),
        .init(text: "Date.now", reason: time, allowed: edge),
        .init(text: "UUID()", reason: random, allowed: edge),
        // A secret that nothing outside may choose (decision 0021).
        .init(
            text: "SystemRandomNumberGenerator", reason: random,
            allowed: edge + ["Sources/ValidationScans/Hashes/HashKey.swift"]),
        .init(text: ".random(", reason: random, argument: "using:"),
        .init(text: ".randomElement(", reason: random, argument: "using:"),
        .init(text: ".shuffled(", reason: random, argument: "using:"),
        .init(text: ".shuffle(", reason: random, argument: "using:"),
        .init(text: "try?", reason: swallowed),
        .init(text: "try!", reason: trap),
        .init(text: "as!", reason: trap),
        .init(text: "fatalError(", reason: trap),
        .init(text: "print(", reason: printing, allowed: edge),
        .init(text: "Task {", reason: tasks),
        .init(text: "Task(", reason: tasks),
        .init(text: "Task.detached", reason: tasks),
        .init(text: "Thread.sleep", reason: "nothing sleeps"),
        .init(text: "usleep(", reason: "nothing sleeps"),
        .init(text: "import Dispatch", reason: tasks),
    ]

    static func check(_ code: Code) -> [Violation] {
        all.flatMap { $0.violations(code) }
    }

    private func violations(_ code: Code) -> [Violation] {
        if allowed.contains(where: { code.path.hasPrefix($0) }) { return [] }
        return code.lines.indices.compactMap { index in
            guard stands(in: code.lines[index]), !hasArgument(code, index) else { return nil }
            return Violation(path: code.path, line: index + 1, text: "\(text): \(reason)")
        }
    }

    /// Whether the text stands in the line as a token of its own.
    private func stands(in line: String) -> Bool {
        line.ranges(of: text).contains { range in
            guard text.first?.isLetter == true, range.lowerBound > line.startIndex else {
                return true
            }
            let before = line[line.index(before: range.lowerBound)]
            return !before.isLetter && !before.isNumber && before != "_" && before != "."
        }
    }

    /// Whether the wanted argument follows within the call, which may take several lines.
    private func hasArgument(_ code: Code, _ index: Int) -> Bool {
        guard let argument else { return false }
        let lines = code.lines[index..<min(index + 4, code.lines.count)].joined(separator: " ")
        guard let start = lines.ranges(of: text).first else { return false }
        var depth = 0
        var call = ""
        for character in lines[start.lowerBound...] {
            call.append(character)
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if character == ")", depth == 0 { break }
        }
        return call.contains(argument)
    }
}
