import Foundation
import FoundationXML
import MappingModel
import StoreFileChecks
import Testing

@testable import MigrationValidation
@testable import RunReports

@Suite struct HTMLReportTests {
    /// What an XML parser finds in a page.
    private final class Content: NSObject, XMLParserDelegate {
        var elements: [String: Int] = [:]
        var text = ""
        var depth = 0

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
            qualifiedName: String?, attributes: [String: String]
        ) {
            elements[name, default: 0] += 1
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
    }

    /// Parses a page, which is well-formed XML or fails the test.
    private func content(_ html: String) throws -> Content {
        let content = Content()
        let parser = XMLParser(data: Data(html.utf8))
        parser.delegate = content
        #expect(parser.parse(), "\(parser.parserError as Any) in line \(parser.lineNumber)")
        return content
    }

    @Test func everythingIsTold() throws {
        let stores = [
            ReportSamples.done("u1/notes.sqlite"), ReportSamples.rich("u2/notes.sqlite"),
            ReportSamples.failed("u3/notes.sqlite"),
        ]
        let report = try ReportSamples.report(stores) { facts in
            facts.skipped = [.init(path: "u4/thumbs.db", reason: "it is not an SQLite database")]
        }
        let found = try content(try ReportSamples.html(report, stores))
        for words in [
            "2 of 3 stores migrated, 1 failed, with losses", "Failures by cause", "Slowest stores",
            "By version of the source", "Time by stage", "u2/notes.sqlite", "it is damaged",
            "Note.folder: 3 × a reference to a missing object",
            "view appView: it does not fit", "pages of 2048 bytes",
            "history: 12 transactions in 1 store",
            "Note.text: 1 value in 1 store",
            "u4/thumbs.db: it is not an SQLite database", "bmV3ZXI=", "12 chunks, 2 attempts",
            "type replay for run-1", "type rollBack for run-1", "type prune for run-1",
            "advice on damaged",
        ] {
            #expect(found.text.contains(words), "\(words)")
        }
        #expect(found.elements["details"] == 3)
        #expect(found.elements["script"] == nil && found.elements["link"] == nil)
        #expect(found.elements["img"] == nil)
    }

    @Test func nothingIsLoadedFromElsewhere() throws {
        let html = try ReportSamples.html(
            try ReportSamples.report([ReportSamples.rich("a")]), [ReportSamples.rich("a")])
        let addresses = html.ranges(of: "://")
        // The one address is the name of the XML dialect.
        #expect(addresses.count == 1)
        #expect(html.contains("xmlns=\"http://www.w3.org/1999/xhtml\""))
        #expect(!html.contains("url(") && !html.contains("@import") && !html.contains("src="))
    }

    @Test func hostileNamesAreText() throws {
        let hostile = "</td><script>alert(1)</script>\"'&amp;\u{1B}\u{202E}\u{0}\u{FFFE}]]>"
        var store = ReportSamples.rich(hostile)
        store.notes = [hostile]
        store.oddities = [hostile]
        store.result = hostile
        store.source = ModelVersion(identifiers: [hostile], digest: hostile)
        store.losses = [Loss(.init(.attribute, hostile, hostile), count: 1)]
        store.droppedObjects = [hostile]
        store.seconds = [hostile: 1]
        store.backup = .init(path: hostile, bytes: 1)
        store.inherited = [
            CountedFault(
                fault: Fault(entity: hostile, property: hostile, kind: .stray), count: 1)
        ]
        let stores = [store, ReportSamples.failed(hostile, reason: hostile)]
        let report = try ReportSamples.report(stores) { facts in
            facts.run = hostile
            facts.begun = hostile
            facts.destination = hostile
            facts.skipped = [.init(path: hostile, reason: hostile)]
            facts.warnings = [hostile]
        }
        let html = try ReportSamples.html(report, stores)
        let found = try content(html)
        #expect(found.elements["script"] == nil)
        #expect(!html.contains("<script"))
        #expect(!html.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{1B}" })
        #expect(found.text.contains("</td><script>alert(1)</script>\"'&amp;\\u{1b}"))
    }

    @Test func emptyRunsHaveAPage() throws {
        let found = try content(try ReportSamples.html(try ReportSamples.report([]), []))
        #expect(found.text.contains("No stores were found"))
    }

    @Test(arguments: [0, 5, 2500])
    func ofManyStoresThoseThatFailedAreListed(_ failures: Int) throws {
        let count = failures + RunReport.listLimit + 1
        /// Made again for every reading and never held together.
        let stores = StoreReports { body in
            for number in 0..<count {
                try body(
                    number < failures
                        ? ReportSamples.failed("\(number)") : ReportSamples.done("\(number)"))
            }
        }
        let report = try RunReport(
            ReportSamples.facts(), stores: stores, guide: ReportSamples.guide)
        #expect(!report.listsAllStores)
        var html = ""
        var longest = 0
        try HTMLReport.write(report, stores: stores) { piece in
            html += piece
            longest = max(longest, piece.utf8.count)
        }
        let found = try content(html)
        #expect(found.elements["details"] ?? 0 == min(failures, RunReport.listLimit))
        #expect(found.text.contains("The run has more than 2,000 stores"))
        // Pieces stay small whatever the number of stores.
        #expect(longest < 16_384)
    }

    @Test func failuresOfReadingAndWritingComeThrough() throws {
        struct Full: Error {}
        let stores = [ReportSamples.done("a")]
        let report = try ReportSamples.report(stores)
        let broken = StoreReports { _ in throw Full() }
        #expect(throws: Full.self) {
            try RunReport(ReportSamples.facts(), stores: broken, guide: ReportSamples.guide)
        }
        #expect(throws: Full.self) { try HTMLReport.write(report, stores: broken) { _ in } }
        #expect(throws: Full.self) {
            try HTMLReport.write(report, stores: StoreReports(stores)) { _ in throw Full() }
        }
        #expect(throws: Full.self) { try TextReport.write(report, stores: broken) { _ in } }
    }
}
