import ArgumentParser
import CommandSupport
import DurableFiles
import Foundation
import RunLedger
import RunMoves
import RunReports
import StateFolders
import StoreRuns

/// What commands that work on earlier runs are pointed at.
package struct RunArguments: ParsableArguments {
    @Argument(
        help: """
            A run, such as r3, or the path of one of its stores. Default: the newest run in \
            --state that migrated, or has yet to migrate, a store.
            """)
    var target: String?

    @Option(
        help: """
            The state folder. Default: .godwit next to the store, in a folder above it, or in \
            the current folder.
            """)
    var state: String?

    /// The state folder of stores that lie in a folder, where none is named: the nearest one with
    /// runs, in it or above, as one run may take a folder and the next a store in it.
    ///
    /// - Returns: one beside the stores where there is none yet.
    /// - Throws: `CommandFailure` where a folder cannot be looked at.
    static func nearestState(_ stores: FilePath) throws(CommandFailure) -> FilePath {
        let name = FilePath(".godwit")
        return try CommandFailure.translating {
            var folder = stores
            while try !holdsOwnLedger(folder.appending(name)) {
                guard folder.parent != folder else { return stores.appending(name) }
                folder = folder.parent
            }
            return folder.appending(name)
        }
    }

    /// State folders one folder further down, where `--output` puts them: the first ones.
    private static func statesBelow(_ folder: FilePath) -> [FilePath] {
        do {
            let names = try DurableFileSystem(links: .followed).names(in: folder)
            let isHere = folder == FilePath(".")
            var states: [FilePath] = []
            for name in names.prefix(searchLimit) where states.count < 3 {
                let path = (isHere ? name : folder.appending(name)).appending(FilePath(".godwit"))
                if try holdsOwnLedger(path) { states.append(path) }
            }
            return states
        } catch {
            // They are only a hint.
            return []
        }
    }

    /// The most names that are looked at.
    private static let searchLimit = 1_000

    /// Another user's is passed over: it may lie to us.
    private static func holdsOwnLedger(_ folder: FilePath) throws -> Bool {
        do throws(DurableFileError) {
            guard try FileStatus.ifPresent(folder.appending(FilePath(Ledger.fileName))) != nil,
                try LinkWalk.foreignLink(on: folder) == nil
            else { return false }
            return try StateFolder.isOwn(DurableFileSystem(links: .followed).resolve(folder))
        } catch {
            guard let number = error.number, [EACCES, ENOTDIR, ELOOP].contains(number) else {
                throw error
            }
            return false
        }
    }

    /// A state folder without symbolic links, so that everything that a command does with it is
    /// done in one folder.
    ///
    /// - Throws: `CommandFailure` for a link that another user has made.
    static func resolved(_ folder: FilePath) throws(CommandFailure) -> FilePath {
        try CommandFailure.translating {
            try StateFolder.refuseForeignLinks(folder)
            return try FleetArguments.absolute(folder)
        }
    }

    /// The run or store that was named.
    ///
    /// - Throws: `CommandFailure` with status 64 where there is no such folder of runs.
    func selection() throws(CommandFailure) -> RunSelection {
        let path = target.map { FilePath($0) }
        let store = try CommandFailure.translating { () -> FilePath? in
            guard let path else { return nil }
            // A store that is gone still has a run that may hold its result.
            guard try FileStatus.ifPresent(path) != nil || path.bytes.contains(0x2F) else {
                return nil
            }
            return try FleetArguments.absolute(path)
        }
        // The ids that runs get.
        if let target, store == nil, target.wholeMatch(of: /r[0-9]+/) == nil {
            throw .usage(
                "there is no file \(target), and it is not a run (r1, r2, …). Give a run or an "
                    + "existing store")
        }
        let folder =
            if let state {
                FilePath(state)
            } else {
                try store.map { store throws(CommandFailure) in
                    try Self.nearestState(store.parent)
                } ?? FilePath(".godwit")
            }
        let isThere = try CommandFailure.translating { try FileStatus.ifPresent(folder) != nil }
        let isMissing = try CommandFailure.translating {
            try store.map { try FileStatus.ifPresent($0) == nil } ?? false
        }
        if let target, isMissing, !isThere {
            throw .usage(
                "\(target) does not exist, and there is no state folder at \(folder). Give an "
                    + "existing store, or give the --state that migrate used")
        }
        guard isThere else {
            let below = state == nil ? Self.statesBelow(folder.parent) : []
            let found = below.map { "--state \(ShellWord.quoted($0.description))" }
                .joined(separator: " or ")
            throw .usage(
                "there is no state folder at \(folder): give "
                    + (below.isEmpty ? "the --state that migrate used" : found))
        }
        return RunSelection(
            state: try Self.resolved(folder), run: store == nil ? target : nil, store: store)
    }
}

/// What a command did with one store.
struct CommandChange {
    let path: FilePath
    /// What was done, in words.
    let text: String
    /// Why it was not done; nil where it was.
    var failure: CommandFailure?
}

/// Prints what a command did with each store, and ends as its failures demand.
final class ChangeList {
    private let verb: String
    private var done = 0
    private var failures = 0
    private var first: CommandStatus?

    /// - Parameter verb: what is done to stores, as in "3 stores rolled back".
    init(_ verb: String) { self.verb = verb }

    func add(_ change: StoreChange) {
        add(
            CommandChange(
                path: change.path, text: change.text,
                failure: change.failure.map { CommandFailure($0) }))
    }

    func add(_ change: CommandChange) {
        if let failure = change.failure {
            failures += 1
            first = first ?? failure.status
            Console.log("godwit: \(change.path): \(change.text): \(failure)")
        } else {
            done += 1
            Console.print("\(change.path): \(change.text)")
        }
    }

    /// - Throws: `ExitCode`: of a single store its own; of several, 75 where one failed.
    func finish() throws {
        if done + failures > 1 {
            let failed = failures > 0 ? ", \(grouped(failures)) failed" : ""
            Console.log("godwit: \(counted(done, "store")) \(verb)\(failed)")
        }
        guard let first else { return }
        if done + failures == 1 { throw ExitCode(first.rawValue) }
        throw ExitCode(CommandStatus.canBeRepeated.rawValue)
    }
}
