import ArgumentParser
import CommandSupport
import CoreDataStore
import DurableFiles
import Foundation
import ModelCommands
import RunCommands
import RunReports
import StoreImport

/// `godwit import`.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports numbered part files into a store, and resumes after a crash.",
        discussion: """
            PARTS holds files such as 0001.jsonl with one JSON object in each line:
              {"entity": "Note", "attributes": {"id": 7}, "relationships": {"folder": "f1"}}
            Relationships refer to objects of any part by their keys. The key of an entity is the \
            attribute of its one-attribute uniqueness constraint, or the one that --key names. \
            Godwit updates an object whose key is in the store, and inserts any other.
            Each batch is one transaction, which also records the progress. You can kill the \
            import at any moment; the same command resumes it after the last batch.
            """)

    @Argument(help: "The folder of part files (.jsonl). Their numbers set the order.")
    var parts: String

    @Option(help: "The store to fill. Godwit creates it if needed.")
    var into: String

    @Option(help: "The store's model. Optional if the store exists.")
    var model: ModelArgument?

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "The attribute that identifies objects of an entity. Repeatable.",
            valueName: "entity.attribute"))
    var keys: [String] = []

    @Option(help: "Maximum number of objects in one transaction.")
    var batch = ImportOptions().batchObjects

    @Flag(help: "Remove each part as soon as all of it is in the store.")
    var removeParts = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard batch > 0 else { throw ValidationError("--batch must be at least 1") }
        _ = try keyAttributes()
    }

    func run() throws {
        let clock = MonotonicClock.start()
        let report = try ScratchFolder.with { scratch in
            let destination = try model?.load(option: "--model", scratch: scratch).destination()
            var options = ImportOptions()
            options.keys = try keyAttributes()
            options.batchObjects = batch
            options.removesParts = removeParts
            let files = DurableFileSystem(links: .followed)
            let folder = try partFolder(files)
            let store = try Self.resolve(FilePath(into), files)
            let progress = ImportProgressLine(clock: clock)
            defer { progress.clear() }
            do throws(ImportError) {
                return try StoreImport(
                    into: store, destination: destination, options: options,
                    identifier: UUID().uuidString
                ).run(folder, scratch: scratch) { progress.show($0) }
            } catch {
                throw CommandFailure(error)
            }
        }
        if json {
            try Console.printJSON(report)
        } else {
            Console.print(report.text(seconds: clock()))
        }
    }

    private func partFolder(_ files: DurableFileSystem) throws -> PartFolder {
        guard try FileStatus.ifPresent(FilePath(parts)) != nil else {
            throw CommandFailure.usage("\(parts) does not exist; give the folder of the part files")
        }
        let path = try files.resolve(FilePath(parts))
        do throws(ImportError) {
            return try PartFolder(path, files)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// The store's path with its links resolved; the store itself may be missing.
    private static func resolve(
        _ path: FilePath, _ files: DurableFileSystem
    ) throws -> FilePath {
        // Also of a link that leads nowhere, which then fails by name.
        if try FileStatus.ifPresentLink(path) != nil { return try files.resolve(path) }
        return try files.resolve(path.parent).appending(path.lastComponent)
    }

    private func keyAttributes() throws -> [String: String] {
        var found: [String: String] = [:]
        for text in keys {
            let parts = text.split(separator: ".", maxSplits: 1).map(String.init)
            guard parts.count == 2, found.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw ValidationError(
                    "--key \(text) must be ENTITY.ATTRIBUTE, once for each entity")
            }
        }
        return found
    }
}

/// The line of a terminal that says how far an import is.
private struct ImportProgressLine {
    let clock: () -> Double

    func show(_ progress: ImportProgress) {
        guard Console.isTerminal else { return }
        let counts = progress.counts
        let objects = counts.inserted + counts.updated
        let rate = Int(Double(objects) / max(clock(), 0.001))
        let percent = progress.allBytes > 0 ? progress.bytes * 100 / progress.allBytes : 100
        Console.status(
            "\(progress.finishedParts) of \(counted(progress.parts, "part")), \(percent) %, "
                + "\(counted(objects, "object")), \(grouped(rate)) a second")
    }

    func clear() {
        if Console.isTerminal { Console.status("") }
    }
}

extension ImportReport {
    /// The report for a terminal.
    func text(seconds: Double) -> String {
        let new = parts - finishedBefore
        var lines = [
            "store      \(store)\(isNew ? ", created by this import" : "")",
            "parts      \(grouped(parts)), of which \(grouped(finishedBefore)) "
                + "were imported earlier",
            "objects    \(grouped(counts.inserted)) inserted, \(grouped(counts.updated)) updated",
            "links      \(grouped(counts.links))",
        ]
        if counts.droppedLinks > 0 {
            lines.append(
                "dropped    \(counted(counts.droppedLinks, "link")), replaced while waiting")
        }
        if missingNumbers > 0 {
            lines.append(
                "gaps       \(counted(missingNumbers, "part number")) missing")
        }
        if !otherFiles.isEmpty {
            let shown = otherFiles.prefix(3).joined(separator: ", ")
            let more = otherFiles.count > 3 ? ", …" : ""
            lines.append("ignored    \(counted(otherFiles.count, "other file")): \(shown)\(more)")
        }
        if removedParts > 0 { lines.append("removed    \(counted(removedParts, "part"))") }
        if new > 0 {
            let rate = Double(counts.inserted + counts.updated) / max(seconds, 0.001)
            let time = "time       \(Int(seconds * 10) / 10).\(Int(seconds * 10) % 10) s"
            lines.append(seconds < 1 ? time : time + ", \(grouped(Int(rate))) objects a second")
        }
        return lines.joined(separator: "\n")
    }
}

extension CommandFailure {
    /// The failure of an import, with the options that may help.
    init(_ error: ImportError) {
        let status: CommandStatus
        var advice = ""
        switch error {
        case .parts, .line, .changedPart, .otherPart, .refused, .unresolved, .incomplete:
            status = .badData
        case .unknownKey:
            status = .usage
            advice = " (--key)"
        case .otherKeys(_, let keys):
            status = .usage
            let options = keys.sorted { $0.key < $1.key }.map { "--key \($0.key).\($0.value)" }
            advice = options.isEmpty ? ": none" : ": " + options.joined(separator: " ")
        case .noModel:
            status = .usage
            advice = ". Give its model with --model, and the import creates it"
        case .otherVersion:
            status = .badData
            advice = " (--model)"
        case .store(let error): status = CommandStatus(error)
        case .file(let error): status = CommandStatus(error)
        case .internalError: status = .bug
        }
        self.init(status, "\(error)\(advice)")
    }
}
