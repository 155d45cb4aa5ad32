package import CommandSupport
import Foundation
import ManagedObjectModel
import MappingFiles
import MappingModel
package import MigrationPlans
import ModelFiles
import RunReports

/// What `--via` says: the way of stores through the versions of a bundle.
package struct ViaRoute: Sendable {
    /// A version that stores go through, or the destination, and what is done on the way to it.
    struct Stop: Hashable, Sendable {
        let version: String
        let directions: StepDirections?
    }

    private enum Form {
        /// From mapping file to mapping file.
        case mapped
        case best
        case stops([Stop], file: String?)
    }

    private let form: Form

    /// Reads the option's text, and the files that it names.
    ///
    /// - Parameter text: nil goes from mapping file to mapping file.
    /// - Throws: `CommandFailure` with status 64 for files and programs that are not there, 65 for
    ///   files with mistakes.
    package init(_ text: String?) throws(CommandFailure) {
        guard let text else {
            form = .mapped
            return
        }
        if text == "auto" {
            form = .best
        } else if StepsFile.isPath(text) {
            form = .stops(try Self.stops(in: text), file: text)
        } else {
            let names = text.split(separator: ",").map { $0.trimming(while: \.isWhitespace) }
            guard !names.isEmpty else {
                throw .usage("--via is empty: name versions, auto, or a file of steps")
            }
            form = .stops(names.map { Stop(version: $0, directions: nil) }, file: nil)
        }
    }

    /// Whether the option is given.
    package var isGiven: Bool {
        if case .mapped = form { false } else { true }
    }

    /// What a file of steps says, step by step.
    package var directions: [StepDirections] {
        guard case .stops(let stops, _) = form else { return [] }
        return stops.compactMap(\.directions)
    }

    /// The programs that run between steps.
    package var programs: [StepProgram] { directions.flatMap(\.programs) }

    /// The ways of all versions to a destination.
    ///
    /// - Parameters:
    ///   - target: the destination.
    ///   - options: with the mapping files and policies of the steps.
    ///   - allowsOlder: whether a step may lead to an older version.
    /// - Returns: straight ways where nothing leads through another version.
    /// - Throws: `CommandFailure` with status 64 for versions that the bundle does not have.
    package func ways(
        to target: LoadedModel, _ options: PlanOptions, allowsOlder: Bool = true
    ) throws(CommandFailure) -> VersionWays {
        guard isGiven else {
            guard let reader = target.reader, !options.mappings.isEmpty else {
                return VersionWays()
            }
            return BundleWays(target, reader, options).mapped()
        }
        guard let reader = target.reader else {
            throw .usage("--via needs a destination with versions: .xcdatamodeld or .momd")
        }
        let bundle = BundleWays(target, reader, options)
        guard case .stops(let stops, let file) = form else { return bundle.best() }
        try Self.check(stops, in: file, reader.bundle, allowsOlder: allowsOlder)
        return try CommandFailure.translating { try bundle.directed(stops) }
    }

    /// Refuses versions that cannot be gone through in this order.
    private static func check(
        _ stops: [Stop], in file: String?, _ bundle: BundleVersions, allowsOlder: Bool
    ) throws(CommandFailure) {
        let subject = file.map { "--via \($0)" } ?? "--via"
        let names = stops.map(\.version)
        for name in names where !bundle.names.contains(name) {
            let hint = NameSuggestion.hint(name, bundle.names, noun: "versions")
            throw .usage("\(subject): the bundle has no version \(name). \(hint)")
        }
        // In a file, a step may lead from a version to itself: with a mapping, or programs.
        var way: [String] = []
        for stop in stops {
            let stays = stop.version == way.last && stop.directions?.isEmpty == false
            guard stays || !way.contains(stop.version) else {
                throw .usage("\(subject) names each version once")
            }
            if !stays { way.append(stop.version) }
        }
        if let place = way.firstIndex(of: bundle.chosen) {
            guard file != nil else {
                throw .usage("\(subject): \(bundle.chosen) is the destination itself")
            }
            guard place == way.count - 1 else {
                throw .usage(
                    "\(subject): \(bundle.chosen) is the destination, and no step can follow it")
            }
        } else {
            way.append(bundle.chosen)
        }
        let inOrder = bundle.names.filter(way.contains)
        guard allowsOlder || way == inOrder else {
            throw .usage(
                "\(subject): a step would lead to an older version. The bundle's order is "
                    + inOrder.joined(separator: ", ")
                    + ". Keep this order, or use --allow-older")
        }
    }
}

// Files of steps.
extension ViaRoute {
    private static func stops(in path: String) throws(CommandFailure) -> [Stop] {
        let file: StepsFile
        do throws(MappingFileError) {
            file = try StepsFile(path: path)
        } catch {
            if case .unreadable(let text) = error { throw .usage("--via: \(text)") }
            throw CommandFailure(.badData, "\(error)")
        }
        var stops: [Stop] = []
        for step in file.steps {
            let place = step.position.map { "\(path): \($0)" } ?? path
            var directions = StepDirections()
            if let mapping = step.mapping {
                do throws(CommandFailure) {
                    directions.mapping = try MappingChoice(loading: mapping)
                } catch {
                    throw CommandFailure(error.status, "\(place): \(error)")
                }
            }
            directions.before = try StepProgram(step.before, of: path, at: place)
            directions.after = try StepProgram(step.after, of: path, at: place)
            stops.append(Stop(version: step.version, directions: directions))
        }
        return stops
    }
}

extension StepProgram {
    /// Finds a program: one without a slash in the folders of `PATH`, as a shell does.
    ///
    /// Nil for no words.
    ///
    /// - Throws: `CommandFailure` with status 64 for a file that cannot be run.
    fileprivate init?(
        _ words: [String], of file: String, at place: String
    ) throws(CommandFailure) {
        guard let name = words.first else { return nil }
        let folders =
            name.contains("/")
            ? [""]
            : (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map {
                "\($0)/"
            }
        let found = folders.map { URL(fileURLWithPath: $0 + name).path }.first { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
                && !isFolder.boolValue && FileManager.default.isExecutableFile(atPath: path)
        }
        guard let found else {
            throw .usage("\(place): the program \(name) is not there, or not executable")
        }
        self.init(
            name: name, path: found, arguments: Array(words.dropFirst()),
            folder: URL(fileURLWithPath: file).deletingLastPathComponent().path)
    }
}

extension StringProtocol {
    /// The text without such characters at its ends.
    fileprivate func trimming(while isDropped: (Character) -> Bool) -> String {
        String(drop(while: isDropped).reversed().drop(while: isDropped).reversed())
    }
}
