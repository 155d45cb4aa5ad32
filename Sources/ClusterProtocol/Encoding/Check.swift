import Jobs

/// The rules for fields, applied to what arrives and to what is sent.
enum Check {
    /// A name: 1 to `nameBytes` bytes without control characters.
    static func name(_ text: String, _ field: String) throws(ProtocolError) {
        try size(text, MessageLimits.nameBytes, field)
        guard !text.isEmpty else { throw .badText(field: field, reason: "is empty") }
        guard text.utf8.allSatisfy(isPrintable) else {
            throw .badText(field: field, reason: "holds control characters")
        }
    }

    /// A name that may be empty.
    static func label(_ text: String, _ field: String) throws(ProtocolError) {
        if !text.isEmpty { try name(text, field) }
    }

    /// An id that can be a name of a folder: letters, digits, `.`, `_` and `-`, no `.` in front.
    static func identifier(_ text: String, _ field: String) throws(ProtocolError) {
        guard isWord(text, MessageLimits.identifierBytes, withDots: true), text.utf8.first != 0x2E
        else {
            let reason =
                "is not of 1 to \(MessageLimits.identifierBytes) letters, digits, '.', '_' and '-'"
            throw .badText(field: field, reason: reason)
        }
    }

    static func identifiers(_ list: [String], _ field: String) throws(ProtocolError) {
        try count(list.count, MessageLimits.attempts, field)
        for text in list { try identifier(text, field) }
    }

    static func names(_ list: [String], _ limit: Int, _ field: String) throws(ProtocolError) {
        try count(list.count, limit, field)
        for text in list { try name(text, field) }
    }

    static func size(_ text: String, _ limit: Int, _ field: String) throws(ProtocolError) {
        guard text.utf8.count <= limit else {
            throw .badText(field: field, reason: "is longer than \(limit) bytes")
        }
    }

    static func count(_ count: Int, _ limit: Int, _ field: String) throws(ProtocolError) {
        guard count <= limit else { throw .tooMany(field: field, count: count, limit: limit) }
    }

    static func number(
        _ value: Int, _ range: ClosedRange<Int>, _ field: String
    ) throws(ProtocolError) {
        guard range.contains(value) else { throw .outOfRange(field: field, Int64(value)) }
    }

    /// Rows, bytes and other amounts: 0 to `amount`.
    static func amount(_ value: Int64, _ field: String) throws(ProtocolError) {
        guard value >= 0, value <= MessageLimits.amount else {
            throw .outOfRange(field: field, value)
        }
    }

    /// The number of a store or a chunk.
    static func index(_ value: Int, _ field: String) throws(ProtocolError) {
        try number(value, 0...MessageLimits.index, field)
    }

    static func epoch(_ value: Int, _ field: String) throws(ProtocolError) {
        try number(value, 0...MessageLimits.epoch, field)
    }

    static func range(_ range: ProtocolRange, _ field: String) throws(ProtocolError) {
        try number(range.lowest, 0...255, field)
        try number(range.highest, range.lowest...255, field)
    }

    /// A root's name and a path in normal form below it; an empty path is the root itself.
    ///
    /// Escapes stand for bytes that cannot be printed and for nothing else, so that a path has
    /// one spelling, and what holds for the text holds for the bytes that it stands for.
    static func file(_ file: FileReference, _ field: String) throws(ProtocolError) {
        guard isWord(file.root, MessageLimits.rootBytes, withDots: false) else {
            let reason = "has no root of 1 to \(MessageLimits.rootBytes) letters, digits, '_', '-'"
            throw .badPath(field: field, reason: reason)
        }
        if file.path.isEmpty { return }
        let bytes = file.path.utf8
        guard bytes.count <= MessageLimits.pathBytes else {
            throw .badPath(field: field, reason: "is over \(MessageLimits.pathBytes) bytes")
        }
        if bytes.contains(0) { throw .badPath(field: field, reason: "holds a NUL byte") }
        guard hasPlainEscapes(bytes) else {
            throw .badPath(
                field: field, reason: "holds an escape that is unknown or stands for a plain byte")
        }
        for name in bytes.split(separator: 0x2F, omittingEmptySubsequences: false) {
            if name.isEmpty { throw .badPath(field: field, reason: "holds an empty name") }
            if name.elementsEqual([0x2E]) || name.elementsEqual([0x2E, 0x2E]) {
                throw .badPath(field: field, reason: "holds . or .. as a name")
            }
        }
    }

    /// Whether every backslash begins `\\`, or `\xNN` for a byte that is neither NUL nor
    /// printable ASCII.
    private static func hasPlainEscapes(_ bytes: String.UTF8View) -> Bool {
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            guard byte == 0x5C else { continue }
            switch rest.popFirst() {
            case 0x5C: continue
            case 0x78:
                guard let high = rest.popFirst().flatMap(digit),
                    let low = rest.popFirst().flatMap(digit)
                else { return false }
                let value = high << 4 | low
                guard value != 0, !(0x20...0x7E).contains(value) else { return false }
            default: return false
            }
        }
        return true
    }

    /// The value of a hexadecimal digit in lower case.
    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// Whether a byte of UTF-8 belongs to no control character of ASCII.
    private static func isPrintable(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F }

    private static func isWord(_ text: String, _ limit: Int, withDots: Bool) -> Bool {
        let bytes = text.utf8
        guard !bytes.isEmpty, bytes.count <= limit else { return false }
        return bytes.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D: true
            case 0x2E: withDots
            default: false
            }
        }
    }
}
