import CoreDataStore
import DurableFiles
import Jobs
import TestSupport
import Testing

@testable import Coordinator
@testable import LocalRun

/// Statements of the app that a worker writes with other bytes which Swift's `==` takes for equal.
@Suite struct EquivalentTextTests {
    /// One object of an app: its name, its statement, and what a worker makes of a part of it.
    struct Change: Sendable, CustomTestStringConvertible {
        let name: String
        let sql: String
        let part: String
        /// The other bytes, in hexadecimal digits.
        let other: String

        var testDescription: String { name }
    }

    private static let changes = [
        // "K" and the Kelvin sign.
        Change(
            name: "APPTRIGGER",
            sql: "CREATE TRIGGER APPTRIGGER AFTER INSERT ON APPLOG WHEN new.STATE = 'OK' "
                + "BEGIN DELETE FROM APPLOG WHERE STATE = 'OK'; END",
            part: "OK", other: "4FE284AA"),
        // "é" as one code point and as two.
        Change(
            name: "APPVIEW",
            sql: "CREATE VIEW APPVIEW AS SELECT * FROM APPLOG WHERE STATE = 'caf\u{E9}'",
            part: "caf\u{E9}", other: "63616665CC81"),
        // The replacement character and a byte that is none of UTF-8.
        Change(
            name: "APPINDEX",
            sql: "CREATE INDEX APPINDEX ON APPLOG(STATE) WHERE STATE = '\u{FFFD}'",
            part: "\u{FFFD}", other: "FF"),
    ]

    @Test(arguments: changes)
    func otherBytesAreAnotherStatement(_ change: Change) throws {
        let schema = "CREATE TABLE APPLOG (ID INTEGER PRIMARY KEY, STATE TEXT); " + change.sql
        try SharingLab.run { lab in
            let honest = try ForgedDelivery(lab, isPublished: false, schema: schema)
            let name = SQLText.text(change.name)
            let kept = try honest.texts("SELECT sql FROM sqlite_master WHERE name = \(name)")
            #expect(kept == [change.sql])
            _ = try honest.deliveries.admit(honest.receipt)
        }
        try SharingLab.run { lab in
            var forged = try ForgedDelivery(lab, isPublished: false, schema: schema)
            let before = try lab.files.contents(of: forged.store, limit: 1 << 30)
            let (sql, part) = (SQLText.text(change.sql), SQLText.text(change.part))
            try forged.edit(
                "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = "
                    + "replace(\(sql), \(part), CAST(x'\(change.other)' AS TEXT)) "
                    + "WHERE name = \(SQLText.text(change.name)); "
                    + "PRAGMA writable_schema = RESET")
            try forged.relabel()
            let error = #expect(throws: RunError.self) {
                _ = try forged.deliveries.admit(forged.receipt)
            }
            #expect(error?.code == .badDelivery)
            #expect(try lab.files.contents(of: forged.store, limit: 1 << 30) == before)
        }
    }
}
