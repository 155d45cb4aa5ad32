import RunReports
import RunService
import Testing

@testable import CommandSupport

@Suite struct WordTests {
    @Test(
        arguments: [
            ("65536", 65536), ("1", 1), ("64K", 65536), ("64k", 65536), ("64KiB", 65536),
            ("64KB", 65536), ("64MiB", 67_108_864), ("64 MiB", 67_108_864), ("64M", 67_108_864),
            ("1.5G", 1_610_612_736), ("2T", 2_199_023_255_552), ("512B", 512),
        ] as [(String, Int64)])
    func sizesAreRead(_ text: String, _ bytes: Int64) {
        #expect(ByteSize(text)?.bytes == bytes)
    }

    @Test(arguments: [
        "", "0", "-1", "x", "M", "MiB", "1.5", "1..5M", ".5M", "5.M", "64iB", "1e3", "0x10", "nan",
        "64MM", "99999999999999999999", "5000000T", "\u{0661}",
    ])
    func othersAreNoSizes(_ text: String) { #expect(ByteSize(text) == nil) }

    @Test(
        arguments: [
            (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"),
            (1_048_575, "1.0 MiB"), (67_108_864, "64.0 MiB"), (Int64.max, "8388608.0 TiB"),
        ] as [(Int64, String)])
    func sizesAreWritten(_ bytes: Int64, _ words: String) {
        #expect(ByteSize(bytes: bytes).words == words)
    }

    @Test func numbersAreGrouped() {
        #expect(
            [0, 12, 999, 1000, 1_234_567, -1000].map { grouped($0) } == [
                "0", "12", "999", "1,000", "1,234,567", "-1,000",
            ])
        #expect(counted(1, "row") == "1 row")
        #expect(counted(2000, "row") == "2,000 rows")
        #expect(counted(2, "index", plural: "indexes") == "2 indexes")
    }

    @Test(arguments: [
        (0.0, "0.00 s"), (0.254, "0.25 s"), (9.994, "9.99 s"), (9.996, "10.0 s"), (12.34, "12.3 s"),
        (59.96, "1 min 00 s"), (245.4, "4 min 05 s"), (3599.7, "1 h 00 min"),
        (7620, "2 h 07 min"), (-1, "0.00 s"), (.nan, "0.00 s"), (.infinity, "0.00 s"),
    ])
    func durationsAreWritten(_ seconds: Double, _ words: String) {
        #expect(Seconds.words(seconds) == words)
    }

    @Test func namesCannotSteerTheTerminal() throws {
        #expect(PrintedText.visible("Zürich\nx") == "Zürich\nx")
        let json = try Console.json(["z\u{9B}2J\u{202E}é\u{E0001}"], isPretty: false)
        #expect(json == #"["z\u009b2J\u202eé\udb40\udc01"]"#)
        #expect(PrintedText.visible("a\u{1B}[2J\r\u{202E}b") == #"a\u{1b}[2J\u{d}\u{202e}b"#)
    }

    @Test func tablesAreAligned() {
        var table = TextTable([("name", .left), ("rows", .right), ("note", .left)])
        table.add(["a", "1,000", ""])
        table.add(["long name", "2", "x"])
        #expect(
            table.lines == [
                "name        rows  note", "a          1,000", "long name      2  x",
            ])
    }
}
