package import DurableFiles
import Glibc
package import MigrationPlans
import SafeSQLite
import Threads

// Programs of the user that change a store on its way.
extension StepProgram {
    /// Runs programs on a store, one after the other; what they say goes to the standard error
    /// output.
    ///
    /// What SQLite keeps beside the store is applied to it then, should a program have left any,
    /// and its journal mode is as before.
    ///
    /// - Parameters:
    ///   - programs: in their order.
    ///   - store: a file of ours; its path is the last argument of each.
    ///   - original: what messages name.
    /// - Throws: `RunError`: `engine(.programFailed)` for a program that cannot be started, that
    ///   ends by a signal or with another status than 0, or that leaves no database.
    package static func run(
        _ programs: [StepProgram], on store: FilePath, of original: FilePath
    ) throws(RunError) {
        let isLogged = try RunError.translating {
            let connection = try Connection(path: store, mode: .readWrite, named: original)
            let mode = try connection.pragma("journal_mode")
            try connection.close()
            return mode == ["wal"]
        }
        for program in programs {
            try program.run(on: store, of: original)
            // A second name could be that of a file of the user, the original among them.
            let status = try RunError.translating { try FileStatus.ifPresentLink(store) }
            guard let status, status.isRegularFile, status.links == 1 else {
                throw program.failed(original, "left no file of its own in the store's place")
            }
            do throws(StoreError) {
                let connection = try Connection(path: store, mode: .readWrite, named: original)
                try connection.configure("PRAGMA journal_mode = DELETE")
                if isLogged { try connection.configure("PRAGMA journal_mode = WAL") }
                try connection.close()
            } catch {
                throw program.failed(original, "left a store that cannot be opened (\(error))")
            }
        }
    }

    private func run(on store: FilePath, of original: FilePath) throws(RunError) {
        let exit: ProcessExit
        do throws(ChildProcessError) {
            var setting = ChildProcess.Setting()
            setting.folder = Array(folder.utf8)
            let process = try ChildProcess(
                Array(path.utf8), arguments: arguments.map { Array($0.utf8) } + [store.bytes],
                setting)
            exit = process.wait { StatementStop.current?.isSet == true }
        } catch {
            let reason = String(cString: strerror(error.number))
            throw failed(original, "cannot be started in \(folder) (\(reason))")
        }
        if StatementStop.current?.isSet == true {
            throw .engine(.store(.cancelled(original.description)))
        }
        switch exit {
        case .code(0): return
        case .code(let status): throw failed(original, "ended with status \(status)")
        case .signal(let number): throw failed(original, "was ended by signal \(number)")
        }
    }

    private func failed(_ original: FilePath, _ what: String) -> RunError {
        .engine(
            .programFailed(
                "\(original): the program \(name) \(what). Nothing was written. Correct the "
                    + "program, or the data in the app; then replay"))
    }
}
