import MappingModel
import Yams

/// The text of a YAML file that people write.
enum YAMLDocument {
    /// Parses the bytes of a file.
    ///
    /// - Throws: `MappingMistake` for what is no YAML, for anchors, and for a file without content.
    static func root(_ bytes: [UInt8]) throws(MappingMistake) -> Node {
        guard let whole = String(validating: bytes, as: UTF8.self) else {
            throw MappingMistake(text: "the file is not UTF-8")
        }
        // Some editors begin files with a byte order mark.
        let text = whole.unicodeScalars.first == "\u{FEFF}" ? String(whole.dropFirst()) : whole
        if let line = anchorLine(bytes) {
            throw MappingMistake(text: "line \(line): anchors (&name) are not supported")
        }
        do {
            if let node = try Yams.compose(yaml: text, .default, .default, .utf8) { return node }
        } catch let error as YamlError {
            throw error.mistake
        } catch {
            throw MappingMistake(text: "\(error)")
        }
        throw MappingMistake(text: "the file is empty")
    }

    /// The first line with an anchor; without anchors there are no aliases, by which a short file
    /// could stand for one without end.
    private static func anchorLine(_ bytes: [UInt8]) -> Int? {
        var line = 1
        // Whether a node can begin here: at the start of a line and behind a sign of structure.
        var isStart = true
        for (place, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "\n"):
                line += 1
                isStart = true
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): continue
            case UInt8(ascii: "&") where isStart:
                let next = place + 1 < bytes.count ? bytes[place + 1] : 0
                if next > 0x20, next != UInt8(ascii: "&") { return line }
                isStart = false
            default: isStart = "-:[{,?".utf8.contains(byte)
            }
        }
        return nil
    }
}
