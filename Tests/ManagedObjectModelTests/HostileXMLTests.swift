import Foundation
import Testing

@testable import ManagedObjectModel
@testable import ModelFiles

@Suite struct HostileXMLTests {
    private func refusal(_ bytes: [UInt8]) -> ModelError? {
        #expect(throws: ModelError.self) { try XMLModelReader.read(bytes) }
    }

    private func refusal(_ text: String) -> ModelError? { refusal(Array(text.utf8)) }

    @Test func entityExpansionIsRefusedUpFront() {
        var text = "<?xml version=\"1.0\"?><!DOCTYPE model [<!ENTITY a \"ha\">"
        for letter in ["b", "c", "d", "e", "f"] {
            let previous = String(UnicodeScalar(letter.utf8.first.map { $0 - 1 } ?? 0))
            text += "<!ENTITY \(letter) \"" + String(repeating: "&\(previous);", count: 100) + "\">"
        }
        text += "]><model><entity name=\"&f;\"/></model>"
        guard case .unsupported(let reason)? = refusal(text) else {
            Issue.record("not refused as unsupported")
            return
        }
        #expect(reason.contains("DOCTYPE"))
    }

    @Test(arguments: [
        "<!DOCTYPE model SYSTEM \"file:///etc/hostname\"><model/>",
        "\u{FEFF}<?xml version=\"1.0\"?>\n<!DOCTYPE model><model/>",
    ])
    func externalDeclarationsAreRefused(text: String) {
        guard case .unsupported? = refusal(text) else {
            Issue.record("not refused as unsupported")
            return
        }
    }

    @Test(arguments: [
        "<?x?><model/>", "<?xml?><model/>", "<?xml version=\"1.0\"?><?xml-stylesheet?><model/>",
        "<model><?target?></model>", "\u{FEFF}<?x ?><model/>",
    ])
    func processingInstructionsAreRefused(text: String) {
        guard case .unsupported(let reason)? = refusal(text) else {
            Issue.record("not refused as unsupported")
            return
        }
        #expect(reason.contains("processing instruction"))
    }

    @Test func otherEncodingsCannotHideADeclaration() {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><!DOCTYPE model><model/>"
        let wide = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        for bytes in [
            wide, [0xFF, 0xFE] + wide, Array("<?xml version='1.0' encoding='UTF-7'?><model/>".utf8),
            Array("<?xml version=\"1.0\" encoding =\n\"IBM037\"?><model/>".utf8), [0xFF],
            [0x4C, 0x6F, 0xA7, 0x94],
        ] {
            guard case .unsupported? = refusal(bytes) else {
                Issue.record("not refused as unsupported: \(bytes.prefix(8))")
                continue
            }
        }
    }

    @Test(arguments: [
        "", " ", "model", "<model", "<model>", "<model></entity></model>", "<other/>",
        "<model/><model/>", "<model><entity name=\"&undeclared;\"/></model>",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"",
        "<model><entity name=\"A\" name=\"B\"/></model>",
        "<model><entity name=\"\"/></model>", "<model><entity/></model>",
        "<model><entity name=\"A\" isAbstract=\"perhaps\"/></model>",
        "<model><entity name=\"A\"><relationship name=\"r\"/></entity></model>",
        #"<model><entity name="A"><relationship name="r" destinationEntity="B"/></entity></model>"#,
        "<model><entity name=\"A\"><attribute name=\"a\"/><attribute name=\"a\"/></entity></model>",
        "<model><entity name=\"A\" parentEntity=\"A\"/></model>",
        #"<model><entity name="A" parentEntity="B"/><entity name="B" parentEntity="A"/></model>"#,
        "<model><entity name=\"A\"/><entity name=\"A\"/></model>",
        "<model><entity name=\"A\"><relationship name=\"r\" destinationEntity=\"A\" "
            + "maxCount=\"99999999999\"/></entity></model>",
    ])
    func malformedModelsAreRefused(text: String) {
        guard case .malformed? = refusal(text) else {
            Issue.record("not refused as malformed")
            return
        }
    }

    @Test func unknownElementsAreRefusedByName() {
        let error = refusal("<model><entity name=\"A\"><sharding/></entity></model>")
        #expect(error == .unsupported("line 1: entity A has an unknown element sharding"))
    }

    @Test func depthAndCountAreLimited() {
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(refusal(deep)?.description.contains("nested") == true)
        let many = "<model>" + String(repeating: "<entity/>", count: 50_001) + "</model>"
        #expect(refusal(many)?.description.contains("elements") == true)
        let entities = (0...XMLModelReader.entityLimit).map { "<entity name=\"E\($0)\"/>" }
        #expect(
            refusal("<model>\(entities.joined())</model>")?.description.contains("entities") == true
        )
        let attributes = (0...DocumentParser.attributeLimit).map { " a\($0)=''" }
        #expect(
            refusal("<model\(attributes.joined())/>")?.description.contains("attributes") == true)
        let large = [UInt8](repeating: 0x20, count: DocumentParser.byteLimit + 1)
        #expect(refusal(large)?.description.contains("bytes") == true)
    }

    @Test func compositesCannotGrowWithoutEnd() {
        let itself = """
            <model><composite name="C"><attribute name="c" attributeType="Composite" \
            compositeName="C"/></composite><entity name="E"><attribute name="a" \
            attributeType="Composite" compositeName="C"/></entity></model>
            """
        #expect(refusal(itself)?.description.contains("nested too deep") == true)
        var wide = "<model><composite name=\"C0\"><attribute name=\"x\"/></composite>"
        for level in 1...6 {
            wide += "<composite name=\"C\(level)\">"
            for element in 0..<20 {
                wide += "<attribute name=\"e\(element)\" attributeType=\"Composite\" "
                wide += "compositeName=\"C\(level - 1)\"/>"
            }
            wide += "</composite>"
        }
        wide += "<entity name=\"E\"><attribute name=\"a\" attributeType=\"Composite\" "
        wide += "compositeName=\"C6\"/></entity></model>"
        #expect(refusal(wide)?.description.contains("too many elements") == true)
    }
}
