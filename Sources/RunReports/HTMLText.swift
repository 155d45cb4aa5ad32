/// Pieces of HTML in which nothing that comes from outside can end the text that it stands in.
enum HTMLText {
    /// A text for between tags or in a quoted attribute.
    ///
    /// Control characters and marks that reorder text become visible first.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in PrintedText.visible(text).unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            // No text of XML may hold these two.
            case "\u{FFFE}", "\u{FFFF}": result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// An element with text in it.
    static func element(_ name: String, _ text: String, class style: String? = nil) -> String {
        let style = style.map { " class=\"\($0)\"" } ?? ""
        return "<\(name)\(style)>\(escaped(text))</\(name)>"
    }

    /// A list of texts; nothing for none.
    static func list(_ items: [String]) -> String {
        items.isEmpty
            ? "" : "<ul>" + items.map { element("li", $0) }.joined() + "</ul>"
    }

    /// A row of a table: each cell with its class.
    static func row(_ cells: [(text: String, style: String)]) -> String {
        let cells = cells.map {
            element("td", $0.text, class: $0.style.isEmpty ? nil : $0.style)
        }
        return "<tr>\(cells.joined())</tr>\n"
    }

    /// The head of a table: each title with its class.
    static func head(_ titles: [(text: String, style: String)]) -> String {
        let cells = titles.map { title in
            let style = title.style.isEmpty ? "" : " class=\"\(title.style)\""
            return "<th scope=\"col\"\(style)>\(escaped(title.text))</th>"
        }
        return "<thead><tr>\(cells.joined())</tr></thead>\n"
    }
}
