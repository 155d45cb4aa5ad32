import DurableFiles
import SafeSQLite
import TestSupport
import Testing

/// Names and values become pieces of SQL that mean nothing else.
@Suite struct SQLTextTests {
    @Test func namesOfRealStoresStayAsTheyAre() {
        for name in [
            "ZPOST", "Z_PK", "Z_2TAGS", "Z_FOK_TEAM", "REFLEXIVE", "Z_Note_byDate", "ZÜBER", "ZX$Y",
            "ACHANGE_ZTRANSACTIONID_INDEX", "Z名前",
        ] { #expect(SQLText.declared(name).description == name) }
    }

    @Test func otherNamesAreQuoted() {
        for name in HostileNames.known(canary: "/x") + ["select", "Order", "1x", "$x", "", "a b"] {
            let wanted = "\"" + name.replacing("\"", with: "\"\"") + "\""
            #expect(SQLText.declared(name).description == wanted)
            #expect(SQLText.quoted(name).description == wanted)
        }
    }

    /// What SQLite makes of a quoted name or text is that name or text.
    @Test func sqliteReadsBackWhatWasWritten() throws {
        let connection = try Connection(path: "", mode: .memory)
        for name in HostileNames.known(canary: "/x") + HostileNames.harmless
        where !name.contains("\0") {
            let statement = try connection.prepare(
                "SELECT \(.quoted(name)) FROM (SELECT \(.text(name)) AS \(.quoted(name)))")
            #expect(try statement.step())
            #expect(statement.text(0) == name)
        }
        try connection.close()
    }

    @Test func interpolationTakesPiecesAndNumbers() {
        let table = SQLText.quoted("a\"b")
        let text: SQLText = "SELECT \(7 as Int64) FROM \(table)"
        #expect(text.description == "SELECT 7 FROM \"a\"\"b\"")
        let pieces: [SQLText] = ["1", "2"]
        #expect(pieces.joined(separator: " OR ").description == "1 OR 2")
    }
}
