import Foundation
import FoundationXML
package import ManagedObjectModel

/// Reads an XML document that may be hostile into a tree of elements.
///
/// Only UTF-8 without a document type declaration is read, which is all that Xcode writes in
/// models: without a declaration there is no entity to expand and no external file to fetch.
package enum DocumentParser {
    /// Bytes that a document may have; the largest real model has well under one MiB.
    static let byteLimit = 16 << 20
    /// Elements that may be open at the same time; real models have five.
    static let depthLimit = 32
    /// Elements that a document may have in all; real models have below two thousand.
    static let elementLimit = 50_000
    /// Attributes that one element may have; the XML library compares each with all others.
    static let attributeLimit = 5_000

    /// The root element of a document.
    ///
    /// - Parameters:
    ///   - bytes: of the document.
    ///   - keepsText: whether elements keep the text in them.
    /// - Returns: the element with all that lies in it.
    /// - Throws: `ModelError.malformed` for what is not well-formed XML or exceeds a limit,
    ///   `ModelError.unsupported` for another encoding or a document type declaration.
    /// - Complexity: O(n).
    package static func parse(
        _ bytes: [UInt8], keepsText: Bool = false
    ) throws(ModelError) -> DocumentElement {
        try check(bytes)
        let builder = DocumentBuilder(keepsText: keepsText)
        let parser = XMLParser(data: Data(bytes))
        parser.shouldResolveExternalEntities = false
        parser.shouldProcessNamespaces = false
        parser.delegate = builder
        let isComplete = parser.parse()
        if let failure = builder.failure { throw failure }
        guard isComplete, builder.isClosed, let root = builder.root else {
            throw .malformed("line \(parser.lineNumber): not well-formed XML")
        }
        return root
    }

    /// Refuses what must not reach the XML parser at all.
    private static func check(_ bytes: [UInt8]) throws(ModelError) {
        guard bytes.count <= byteLimit else {
            throw .malformed("the XML has \(bytes.count) bytes; at most \(byteLimit) are read")
        }
        guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else {
            throw .unsupported("the XML is not UTF-8, which Xcode always writes")
        }
        try checkDeclarations(bytes)
        try checkInstructions(bytes)
        try checkEncoding(bytes)
        // No `<` can stand in an attribute, so that every one lies between two of them.
        var attributes = 0
        for byte in bytes {
            if byte == UInt8(ascii: "<") { attributes = 0 }
            if byte == UInt8(ascii: "=") { attributes += 1 }
            guard attributes <= attributeLimit else {
                throw .malformed("an element has more than \(attributeLimit) attributes")
            }
        }
    }

    /// Refuses document types and entities.
    private static func checkDeclarations(_ bytes: [UInt8]) throws(ModelError) {
        for place in bytes.indices.dropLast()
        where bytes[place] == UInt8(ascii: "<") && bytes[place + 1] == UInt8(ascii: "!") {
            let rest = bytes[(place + 2)...]
            for name in ["DOCTYPE", "ENTITY"] where rest.starts(with: name.utf8) {
                throw .unsupported(
                    "the XML has a \(name) declaration; models have none, and it could make the "
                        + "reader expand or fetch anything")
            }
        }
    }

    /// Refuses processing instructions beyond the XML declaration at the start: models have
    /// none, and FoundationXML reads from address 0 at one without data (`<?x?>`).
    private static func checkInstructions(_ bytes: [UInt8]) throws(ModelError) {
        let mark: [UInt8] = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? [0xEF, 0xBB, 0xBF] : []
        var from = 0
        let declaration = mark + Array("<?xml".utf8)
        if bytes.starts(with: declaration), bytes.count > declaration.count,
            [0x20, 0x09, 0x0A, 0x0D].contains(bytes[declaration.count])
        {
            from = declaration.count
        }
        for place in from..<max(from, bytes.count - 1)
        where bytes[place] == UInt8(ascii: "<") && bytes[place + 1] == UInt8(ascii: "?") {
            throw .unsupported("the XML has a processing instruction; models have none")
        }
    }

    /// Refuses an encoding by which a declaration could hide from the search for it.
    private static func checkEncoding(_ bytes: [UInt8]) throws(ModelError) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let start = bytes.starts(with: mark) ? bytes[3...] : bytes[...]
        guard start.starts(with: "<?xml".utf8) else { return }
        guard let end = start.firstIndex(of: UInt8(ascii: ">")) else {
            throw .malformed("line 1: the XML declaration does not end")
        }
        let declaration = String(decoding: start[..<end], as: UTF8.self)
        guard let named = declaration.range(of: "encoding") else { return }
        let parts = declaration[named.upperBound...]
            .split(omittingEmptySubsequences: false) { $0 == "\"" || $0 == "'" }
        guard parts.count > 1, ["utf-8", "utf8", "us-ascii"].contains(parts[1].lowercased()) else {
            throw .unsupported("the XML declares another encoding than UTF-8")
        }
    }
}

/// Collects elements as the parser meets them, within the limits.
private final class DocumentBuilder: NSObject, XMLParserDelegate {
    /// Elements whose end has not been met, outermost first.
    private var open: [DocumentElement] = []
    private var elements = 0
    private(set) var root: DocumentElement?
    private let keepsText: Bool
    /// Why the parser was told to stop.
    private(set) var failure: ModelError?

    init(keepsText: Bool) { self.keepsText = keepsText }

    /// Whether every element has been closed.
    var isClosed: Bool { open.isEmpty }

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        guard failure == nil else { return }
        elements += 1
        if elements > DocumentParser.elementLimit {
            return stop(parser, "more than \(DocumentParser.elementLimit) elements")
        }
        if open.isEmpty, root != nil { return stop(parser, "a second root element") }
        if open.count >= DocumentParser.depthLimit {
            return stop(parser, "more than \(DocumentParser.depthLimit) nested elements")
        }
        open.append(
            DocumentElement(name: elementName, attributes: attributes, line: parser.lineNumber))
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        guard keepsText, !open.isEmpty else { return }
        open[open.count - 1].content += string
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?,
        qualifiedName: String?
    ) {
        guard failure == nil else { return }
        guard let closed = open.popLast(), closed.name == elementName else {
            return stop(parser, "the end of \(elementName) does not match a beginning")
        }
        if open.isEmpty {
            root = closed
        } else {
            open[open.count - 1].children.append(closed)
        }
    }

    // The parser goes on after some errors, and may then return as if there had been none.
    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        if failure == nil { failure = .malformed("line \(parser.lineNumber): not well-formed XML") }
    }

    private func stop(_ parser: XMLParser, _ reason: String) {
        failure = .malformed("line \(parser.lineNumber): \(reason)")
        parser.abortParsing()
    }
}
