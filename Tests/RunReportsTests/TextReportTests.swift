import Testing

@testable import RunReports

@Suite struct TextReportTests {
    @Test func aSmallRunIsTold() throws {
        let stores = [
            ReportSamples.done("u1/notes.sqlite"), ReportSamples.rich("u2/notes.sqlite"),
            ReportSamples.failed("u3/notes.sqlite"),
        ]
        let report = try ReportSamples.report(stores) { facts in
            facts.skipped = [.init(path: "u4/thumbs.db", reason: "it is not an SQLite database")]
        }
        #expect(
            try ReportSamples.text(report, stores) == """
                2 of 3 stores migrated, 1 failed, with losses
                run run-1, begun 2025-03-01 12:00:00

                model       Notes 2.mom
                result      in place
                time        1 min 01 s with 2 slots
                speed       40.0 MiB/s
                strategy    1 store partitioned, 1 store whole
                rows        2,501,000 → 2,500,000 rows
                size        2.4 GiB → 2.3 GiB
                compared    17,507,000 values, 2,501,000 links, 20 join rows, 5,002,000 index
                            entries: equal, but for the losses below
                inherited   in 1 store: 3 × a reference to a missing object
                repeated    1 store started more than once
                originals   1 store kept, 2.4 GiB

                losses: data that the stores have and the results lack
                  Draft: 1,000 objects in 1 store
                  history: 12 transactions in 1 store
                  Note.text: 1 value in 1 store

                Failures by cause
                      1  damaged, or not a Core Data store
                         advice on damaged

                Failed stores
                  u3/notes.sqlite
                      it is damaged: page 7 is never used

                Stores
                  outcome   version       rows        size        time  store
                  migrated  1 → 2        1,000  1000.0 KiB      0.50 s  u1/notes.sqlite
                  migrated  1 → 2    2,499,000     2.4 GiB  1 min 15 s  u2/notes.sqlite
                  failed                           8.0 KiB              u3/notes.sqlite

                By version of the source
                  version  stores  failed       rows     size        time
                  1             2          2,501,000  2.4 GiB  1 min 16 s
                  unknown       1       1          0  8.0 KiB

                Time by stage, of all slots together
                  copy 56.6 s, validate 18.9 s

                Not taken
                  u4/thumbs.db: it is not an SQLite database

                Next steps
                  repair the causes, then retry the failed stores:
                      type replay for run-1
                  put the originals back:
                      type rollBack for run-1
                  remove the kept originals, which frees 2.4 GiB:
                      type prune for run-1
                """)
    }

    @Test func linesFitATerminal() throws {
        let names = (0..<60).map { "folder-\($0)/" + String(repeating: "n", count: 70) }
        for count in [3, 60] {
            let stores = names.prefix(count).enumerated().map { number, name in
                number % 7 == 0
                    ? ReportSamples.failed(name, reason: String(repeating: "word ", count: 60))
                    : ReportSamples.rich(name)
            }
            let report = try ReportSamples.report(stores)
            let text = try ReportSamples.text(report, stores)
            for line in text.split(separator: "\n") where line.count > WrappedText.columns {
                // Only the whole path of a store that wants something done may be longer.
                #expect(line.contains(String(repeating: "n", count: 70)), "\(line)")
            }
            #expect(text.contains("Slowest stores") == (count > TextReport.listLimit))
            #expect(text.contains("\nStores\n") == (count <= TextReport.listLimit))
        }
    }

    @Test func longListsAreCut() throws {
        let stores = (0..<60).map { ReportSamples.failed("\($0).sqlite") }
        let report = try ReportSamples.report(stores) { facts in
            facts.warnings = (0..<25).map { "warning \($0)" }
        }
        let text = try ReportSamples.text(report, stores)
        #expect(text.contains("\n  and 10 more\n"))
        #expect(text.contains("\n  49.sqlite\n"))
        #expect(!text.contains("\n  50.sqlite\n"))
        #expect(text.contains("\n  and 5 more\n"))
    }

    /// Such as an owner that only root could give.
    @Test func whatWasNotCarriedOverIsTold() throws {
        let stores = ["a", "b", "c"].map { name in
            var store = ReportSamples.done(name)
            store.warnings = ["owner could not be carried over: EPERM"]
            if name == "c" { store.warnings.append("its folder could not be removed") }
            return store
        }
        let text = try ReportSamples.text(try ReportSamples.report(stores), stores)
        #expect(
            text.contains(
                """

                Warnings
                  3 stores, such as a: owner could not be carried over: EPERM
                  c: its folder could not be removed
                """))
    }

    @Test func namesCannotSteerTheTerminal() throws {
        let stores = [ReportSamples.failed("a\u{1B}[2J\u{202E}b")]
        let report = try ReportSamples.report(stores)
        let text = try ReportSamples.text(report, stores)
        #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}"))
        #expect(text.contains("a\\u{1b}[2J\\u{202e}b"))
    }

    @Test func pathsAreToldApart() {
        let paths = ["a/b/1/x/y/n.sqlite", "a/b/22/x/y/n.sqlite"]
        let wide = PathLabels(paths, columns: 40)
        #expect(wide.frame == "a/b/…")
        #expect(wide.labels == ["1/x/y/n.sqlite", "22/x/y/n.sqlite"])
        let narrow = PathLabels(paths, columns: 14)
        #expect(narrow.frame == "a/b/…/x/y/n.sqlite")
        #expect(narrow.labels == ["1", "22"])
        #expect(PathLabels(["aaaa/b", "cccc/d"], columns: 4).labels == ["…a/b", "…c/d"])
        #expect(PathLabels(["a/b", "a/b"], columns: 9).labels == ["b", "b"])
        #expect(PathLabels(["/a", "/b"], columns: 9).labels == ["a", "b"])
        #expect(PathLabels(["x/y"], columns: 9) == PathLabels(["x/y"], columns: 99))
        #expect(PathLabels(["same", "same/er"], columns: 2).labels == ["…e", "…r"])
        #expect(PathLabels([], columns: 9).labels.isEmpty)
    }

    @Test func textIsBrokenAtBlanks() {
        let long = String(repeating: "x", count: 90)
        #expect(WrappedText.lines("", first: "> ") == ["> "])
        #expect(WrappedText.lines("a\nb", first: "> ", rest: "  ") == ["> a", "  b"])
        #expect(WrappedText.lines("a \(long) b", rest: "  ") == ["a", "  \(long)", "  b"])
        let words = WrappedText.lines(String(repeating: "word ", count: 40))
        #expect(words.allSatisfy { $0.count <= 80 })
        #expect(words.joined(separator: " ").split(separator: " ").count == 40)
        #expect(WrappedText.tail("abcdef", columns: 4) == "…def")
        #expect(WrappedText.tail("abcd", columns: 4) == "abcd")
    }
}
