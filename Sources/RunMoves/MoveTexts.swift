import StateFolders
import StoreRuns

/// The JSON of a move, which the ledger gets before and after it: encoded once.
struct MoveTexts {
    let way: String
    /// The result without its times, which grow by those of the move.
    private let timeless: StoreResult
    /// Its JSON before and behind the times; nil where these are not found.
    private let parts: (before: String, behind: String)?

    init(_ way: CutOverRecord.Way, _ result: StoreResult) throws(RunError) {
        self.way = try RecordedText.text(of: way)
        timeless = Self.withoutTimes(result)
        parts = Self.parts(try RecordedText.text(of: timeless))
    }

    /// What `RecordedText` writes of a result.
    func result(_ result: StoreResult) throws(RunError) -> String {
        guard let parts, Self.withoutTimes(result) == timeless else {
            return try RecordedText.text(of: result)
        }
        return parts.before + (try RecordedText.text(of: result.seconds)) + parts.behind
    }

    private static func withoutTimes(_ result: StoreResult) -> StoreResult {
        var result = result
        result.seconds = [:]
        return result
    }

    /// Cuts a text at the empty times.
    ///
    /// In texts of JSON, a quotation mark stands behind a backslash: what is found is the key.
    private static func parts(_ text: String) -> (before: String, behind: String)? {
        let (bytes, mark) = (Array(text.utf8), Array("\"seconds\":{}".utf8))
        guard bytes.count >= mark.count else { return nil }
        let places = (0...bytes.count - mark.count).filter { place in
            bytes[place] == mark[0] && bytes[place..<place + mark.count].elementsEqual(mark)
        }
        guard places.count == 1 else { return nil }
        let start = places[0] + mark.count - 2
        return (
            String(decoding: bytes[..<start], as: UTF8.self),
            String(decoding: bytes[(start + 2)...], as: UTF8.self)
        )
    }
}
