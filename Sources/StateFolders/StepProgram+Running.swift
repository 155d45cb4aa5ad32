package import DurableFiles
import Glibc
package import MigrationPlans
import SafeSQLite
import Threads

// Programs of the user that change a store on its way.
extension StepProgram {
    /// Runs the program on a store and waits for its end; what it says goes to the standard error
    /// output.
    ///
    /// What SQLite keeps beside the store is applied to it then, should the program have left any.
    ///
    /// - Parameters:
    ///   - store: a file of ours; its path is the last argument.
    ///   - original: what messages name.
    /// - Throws: `RunError`: `engine(.programFailed)` for a program that cannot be started, that
    ///   ends by a signal or with another status than 0, or that leaves no database.
    package func run(on store: FilePath, of original: FilePath) throws(RunError) {
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
        case .code(0): break
        case .code(let status): throw failed(original, "ended with status \(status)")
        case .signal(let number): throw failed(original, "was ended by signal \(number)")
        }
        do throws(StoreError) {
            let connection = try Connection(
                path: store, mode: .readWrite, named: original)
            try connection.configure("PRAGMA journal_mode = DELETE")
            try connection.close()
        } catch {
            throw failed(original, "left a store that cannot be opened (\(error))")
        }
    }

    private func failed(_ original: FilePath, _ what: String) -> RunError {
        .engine(
            .programFailed(
                "\(original): the program \(name) \(what). Nothing was written. Correct the "
                    + "program, or the data in the app; then replay"))
    }
}
