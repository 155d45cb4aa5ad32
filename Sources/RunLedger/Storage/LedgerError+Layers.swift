import CSQLite
import DurableFiles
import GRDB
import GRDBSQLite
import Glibc

// What the layers below say, as errors of the ledger.

extension LedgerError {
    /// A failed action on a file.
    init(ledger: FilePath, file error: DurableFileError) {
        self.ledger = ledger
        if case .lockHeld(_, let holder) = error {
            kind = .locked(holder: holder)
        } else if error.isOutOfSpace {
            kind = .noSpace(reason: error.description)
        } else {
            kind = .inputOutput(reason: error.description)
        }
    }

    /// What SQLite said; `systemError` is the errno of its last failed call.
    init(ledger: FilePath, step: String, database error: DatabaseError, systemError: Int32 = 0) {
        self.ledger = ledger
        let system = systemError == 0 ? "" : ", " + DurableFileError.name(of: systemError)
        let reason =
            "\(step): \(error.message ?? "no message") "
            + "(SQLite \(error.extendedResultCode.rawValue)\(system))"
        switch error.resultCode.rawValue {
        case SQLITE_FULL: kind = .noSpace(reason: reason)
        case SQLITE_IOERR where systemError == ENOSPC || systemError == EDQUOT,
            SQLITE_CANTOPEN where systemError == ENOSPC || systemError == EDQUOT:
            kind = .noSpace(reason: reason)
        case SQLITE_CORRUPT, SQLITE_NOTADB: kind = .damaged(reason: reason)
        default: kind = .inputOutput(reason: reason)
        }
    }

    /// Runs a body and turns what the layers below throw into errors of the ledger.
    static func translating<Result>(
        _ ledger: FilePath, _ step: String, _ body: () throws -> Result
    ) throws(LedgerError) -> Result {
        let failures = godwit_sqlite_room_failures()
        do {
            return try body()
        } catch let error as LedgerError {
            throw error
        } catch let error as DatabaseError {
            // The connection, which knew the system's number, may be gone.
            let mayLackRoom = [.SQLITE_IOERR, .SQLITE_CANTOPEN].contains(error.resultCode)
            let lacksRoom =
                mayLackRoom
                && (godwit_sqlite_room_failures() > failures
                    || FileSystemSpace.isExhausted(at: ledger.parent))
            throw LedgerError(
                ledger: ledger, step: step, database: error, systemError: lacksRoom ? ENOSPC : 0)
        } catch let error as DurableFileError {
            throw LedgerError(ledger: ledger, file: error)
        } catch {
            // What is left is a value in the file that cannot be read as what it should be.
            throw LedgerError(ledger: ledger, kind: .damaged(reason: "\(step): \(error)"))
        }
    }
}

extension LedgerError {
    /// The same for work on a connection, which knows the system's number of what failed.
    static func translating<Result>(
        _ ledger: FilePath, _ step: String, on queue: DatabaseQueue, _ body: () throws -> Result
    ) throws(LedgerError) -> Result {
        let failures = godwit_sqlite_room_failures()
        return try translating(ledger, step) {
            do {
                return try body()
            } catch let error as DatabaseError {
                guard [.SQLITE_IOERR, .SQLITE_CANTOPEN].contains(error.resultCode) else {
                    throw error
                }
                guard godwit_sqlite_room_failures() == failures else { throw error }
                let number = queue.inDatabase { sqlite3_system_errno($0.sqliteConnection) }
                throw LedgerError(
                    ledger: ledger, step: step, database: error, systemError: number)
            }
        }
    }
}

extension FaultPoints {
    /// Runs one action of SQLite on the ledger between its two announcements.
    func perform<Result>(
        _ operation: FileOperation, ledger: FilePath,
        _ action: () throws(LedgerError) -> Result
    ) throws(LedgerError) -> Result {
        var failure: LedgerError?
        do throws(DurableFileError) {
            return try perform(operation, on: ledger) { () throws(DurableFileError) -> Result in
                do throws(LedgerError) {
                    return try action()
                } catch {
                    failure = error
                    throw .stopped(ledger)
                }
            }
        } catch {
            throw failure ?? LedgerError(ledger: ledger, file: error)
        }
    }
}
