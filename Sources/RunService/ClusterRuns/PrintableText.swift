import DurableFiles

/// Text that a stranger may have had a say in, for reports and logs.
enum PrintableText {
    /// The most characters that are kept.
    private static let limit = 500

    /// The beginning of a text in one printable line.
    static func line(_ text: String) -> String {
        let cut = text.prefix(limit)
        return FilePath(String(cut)).description + (cut.endIndex == text.endIndex ? "" : " …")
    }
}
