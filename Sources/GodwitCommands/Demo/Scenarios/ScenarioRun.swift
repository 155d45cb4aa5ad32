import CommandSupport
import DurableFiles
import Foundation
import Glibc
import ManagedObjectModel
import ModelFiles
import RunReports
import StoreForge
import Threads

/// Runs one scenario, showing each command as a user would type it.
struct ScenarioRun {
    let scenario: Scenario
    let objects: Int
    let folder: DemoFolder
    /// The executable of the scenario's package; nil for a scenario without one.
    let worker: FilePath?

    /// - Throws: `CommandFailure` where a command ends otherwise than the scenario says.
    func run() throws {
        let files = DurableFileSystem()
        for (name, text) in scenario.files {
            let path = folder.path.appending(name)
            try files.makeScratchFolders(path.parent)
            try files.publish(Array(text.utf8), to: path, permissions: 0o644)
        }
        Console.print("Making \(objects) \(scenario.unit) …")
        try scenario.prepare(folder.path, objects)
        if let package = scenario.package, let worker {
            try package.prepare(folder.path, objects, worker.parent)
        }
        Console.print("$ cd \(folder.path)")
        for step in scenario.steps(objects) {
            switch step {
            case .say(let text): Console.print("\n# \(text)")
            case .run(let arguments, let status): try run(arguments, status)
            case .kill(let arguments, let parts, let left):
                try kill(arguments, folder: parts, left: left)
            case .act(let text, let body):
                Console.print("\n# \(text)")
                try body(folder.path)
            }
        }
    }

    private func process(_ arguments: [String]) throws -> ChildProcess {
        var arguments = arguments
        if let worker, ["plan", "migrate"].contains(arguments.first) {
            arguments += ["--worker-command", worker.description]
        }
        Console.print("$ godwit \(arguments.map { ShellWord.quoted($0) }.joined(separator: " "))")
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
        // A child prints to its error output, as slots must; this one prints to ours.
        var setting = ChildProcess.Setting(descriptor: STDOUT_FILENO)
        setting.folder = folder.path.bytes
        let shell = ["-c", "exec \"$0\" \"$@\" >&3 3>&-", program]
        return try ChildProcess(
            Array("/bin/sh".utf8), arguments: (shell + arguments).map { Array($0.utf8) }, setting)
    }

    private func run(_ arguments: [String], _ status: Int32) throws {
        guard try process(arguments).wait(unless: { false }) == .code(status) else {
            throw CommandFailure(.bug, "a bug in Godwit: the scenario did not go as expected")
        }
    }

    private func kill(_ arguments: [String], folder parts: String, left: Int) throws {
        let process = try process(arguments)
        let path = folder.path.appending(parts)
        let files = DurableFileSystem()
        // Nothing is ever sent to it: receiving is waiting.
        let silence = BoundedMailbox<Bool>(capacity: 1)
        var exit: ProcessExit?
        while exit == nil, try files.names(in: path).count > left {
            _ = silence.receive(within: .milliseconds(1))
            exit = process.reap()
        }
        process.kill()
        if exit == nil { exit = process.wait { false } }
        Console.print(
            exit == .signal(SIGKILL) ? "Killed" : "It ended before it could be killed")
    }
}

extension Scenario {
    /// Makes a store of a version of a scenario's model.
    ///
    /// - Parameters:
    ///   - path: of the store.
    ///   - model: the path of the version's model.
    ///   - seed: of its values.
    ///   - shape: what the recipe has beyond the model.
    /// - Throws: `ForgeError`, `ModelError` for a model that is none, which a test rules out.
    static func forge(
        _ path: FilePath, model: FilePath, seed: UInt64, _ shape: (inout ForgeRecipe) -> Void
    ) throws {
        try DurableFileSystem().makeScratchFolders(path.parent)
        let model = try XMLModelReader.read(URL(fileURLWithPath: model.description))
        var recipe = ForgeRecipe(model: model, seed: seed)
        recipe.nullShare = 0
        recipe.linkShare = 1
        shape(&recipe)
        _ = try Forge(recipe).write(to: path)
    }
}
