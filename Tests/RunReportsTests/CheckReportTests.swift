import Foundation
import FoundationXML
import RunReports
import Testing

/// JUnit XML and annotations, with names that try to end them.
@Suite struct CheckReportTests {
    private func report(_ cases: [CheckReport.Case]) -> CheckReport {
        var report = CheckReport(
            name: "godwit plan", timestamp: "2026-01-31T12:00:00", host: "build-1")
        report.cases = cases
        return report
    }

    private static let hostile = "a<b>&\"'%,:\r\n::error::x]]>\u{1B}[2J\u{0}"

    @Test func failuresBecomeFailuresOfTests() throws {
        let text = report([
            .init(name: "a.sqlite", seconds: 0.25),
            .init(
                name: "b.sqlite",
                failure: .init(kind: "noMapping", text: "no mapping can be inferred\n- Car"),
                seconds: 1.5),
            .init(name: "c.sqlite", warnings: ["loses Post.content: 20 values"]),
        ]).junit
        #expect(text.contains("tests=\"3\" failures=\"1\" errors=\"0\" time=\"1.750\""))
        #expect(
            text.contains(
                "name=\"b.sqlite\" time=\"1.500\"><failure type=\"noMapping\" "
                    + "message=\"no mapping can be inferred\">no mapping can be inferred\n- Car"))
        #expect(
            text.contains("<system-out>c.sqlite: loses Post.content: 20 values</system-out>"))
    }

    @Test func namesEndNoElement() throws {
        let text = report([
            .init(
                name: Self.hostile, failure: .init(kind: Self.hostile, text: Self.hostile),
                warnings: [Self.hostile])
        ]).junit
        let parser = XMLParser(data: Data(text.utf8))
        let counter = ElementCounter()
        parser.delegate = counter
        #expect(parser.parse())
        #expect(counter.names["testcase"] == 1)
        #expect(counter.names["failure"] == 1)
        #expect(counter.names.count == 7)
    }

    @Test func namesEndNoAnnotation() throws {
        let text = report([
            .init(
                name: Self.hostile, file: Self.hostile,
                failure: .init(kind: "damaged", text: Self.hostile), warnings: [Self.hostile])
        ]).github
        let lines = text.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("::error file=a<b>&\"'%25%2C%3A%0D%0A%3A%3Aerror%3A%3Ax]]>"))
        #expect(lines[1].hasPrefix("::warning file="))
        #expect(lines[2] == "godwit plan: 0 of 1 case passed")
        #expect(!text.contains("\u{1B}"))
        #expect(!text.contains("\r"))
    }

    @Test func annotationsAreFewAndTheRestIsCounted() throws {
        let text = report(
            (1...15).map {
                .init(name: "\($0).sqlite", failure: .init(kind: "damaged", text: "x"))
            }
        ).github
        let lines = text.split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("::error ") } == 10)
        #expect(lines.dropFirst(10).first == "error: 11.sqlite: damaged: x")
        #expect(lines.count == 16)
        #expect(lines.last == "godwit plan: 0 of 15 cases passed")
    }

    @Test func whatMattersMostComesFirst() throws {
        let losses = (1...12).map {
            CheckReport.Case(
                name: "\($0)", failure: .init(kind: "losses", text: "x", rank: 1))
        }
        let text = report(losses + [.init(name: "V", failure: .init(kind: "mapping", text: "y"))])
            .github
        #expect(text.hasPrefix("::error title=V%3A mapping::y\n"))
    }

    @Test func annotationsNameTheLine() throws {
        let mistake = CheckReport.Case(
            name: "Note.title", file: "m.yaml", line: 7, failure: .init(kind: "mapping", text: "x"))
        #expect(
            report([mistake]).github
                .hasPrefix("::error file=m.yaml,line=7,title=Note.title%3A mapping::x\n"))
    }

    @Test func aCommandThatCannotBeginIsACase() throws {
        let text = report([]).failed("usage", "no such bundle").junit
        #expect(text.contains("tests=\"1\" failures=\"1\""))
        #expect(text.contains("no such bundle"))
    }

    private final class ElementCounter: NSObject, XMLParserDelegate {
        var names: [String: Int] = [:]

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
            qualifiedName: String?, attributes: [String: String]
        ) {
            names[name, default: 0] += 1
        }
    }
}
