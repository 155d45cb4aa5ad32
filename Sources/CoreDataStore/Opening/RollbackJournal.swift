/// What is looked at in a `-journal` file before SQLite sees it (SQLite file format, section 3).
enum RollbackJournal {
    /// The bytes that begin every header of a journal, and end one that names a super-journal.
    static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

    /// Why a journal must not be rolled back, judged by its last eight bytes; nil for none.
    ///
    /// A transaction over several databases writes the name of a super-journal at the end. SQLite
    /// opens, and at last deletes, the file of that name, whatever it is: a name that another
    /// program wrote must never get there. Core Data makes no such transactions.
    static func refusal(end: [UInt8]) -> String? {
        end == magic
            ? "its -journal file belongs to a transaction over several databases, which Godwit "
                + "cannot roll back in one of them" : nil
    }
}
