/// The first 100 bytes of a database file (SQLite file format, section 1.3).
package struct DatabaseHeader: Hashable, Sendable, Codable {
    /// In bytes.
    package static let size = 100
    /// 512 … 65536, a power of two.
    package let pageSize: Int
    /// Whether readers and writers use a write-ahead log (bytes 18 and 19 are 2).
    package let isWriteAheadLogged: Bool
    /// Bytes at the end of each page that SQLite does not use (byte 20).
    package let reservedBytes: Int
    /// The number of pages, 0 where the header does not say it reliably.
    package let pageCount: Int64
    /// The schema format (offset 44); 4 in nearly all stores.
    package let schemaFormat: Int
    /// 0 none, 1 full, 2 incremental (offsets 52 and 64).
    package let autoVacuum: Int
    /// 1 UTF-8, 2 and 3 UTF-16 (offset 56).
    package let textEncoding: Int
    /// `user_version` (offset 60): the application's, 0 in stores that nothing but Core Data
    /// writes.
    package let userVersion: Int32
    /// `application_id` (offset 68): the same.
    package let applicationID: Int32

    /// Reads the header.
    ///
    /// - Returns: the header, or why the bytes are none.
    package static func read(_ bytes: [UInt8]) -> Result<DatabaseHeader, HeaderFault> {
        guard !bytes.isEmpty else { return .failure(HeaderFault("the file is empty")) }
        guard bytes.count >= size else {
            return .failure(HeaderFault("the file is shorter than a database header"))
        }
        guard bytes.starts(with: Array("SQLite format 3\0".utf8)) else {
            return .failure(HeaderFault("the file is not an SQLite database"))
        }
        let word = { (at: Int) -> Int64 in
            bytes[at..<(at + 4)].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        }
        let rawSize = Int(bytes[16]) << 8 | Int(bytes[17])
        let pageSize = rawSize == 1 ? 65536 : rawSize
        guard (512...65536).contains(pageSize), pageSize & (pageSize - 1) == 0 else {
            return .failure(HeaderFault("its page size is \(pageSize)"))
        }
        guard (1...2).contains(bytes[18]), (1...2).contains(bytes[19]) else {
            return .failure(HeaderFault("its file format version is unknown"))
        }
        // The page count is right only where "version valid for" equals the change counter.
        let isCountValid = word(24) == word(92)
        return .success(
            DatabaseHeader(
                pageSize: pageSize, isWriteAheadLogged: bytes[18] == 2 && bytes[19] == 2,
                reservedBytes: Int(bytes[20]), pageCount: isCountValid ? word(28) : 0,
                schemaFormat: Int(word(44)),
                autoVacuum: word(52) == 0 ? 0 : (word(64) == 0 ? 1 : 2),
                textEncoding: Int(word(56)),
                userVersion: Int32(truncatingIfNeeded: word(60)),
                applicationID: Int32(truncatingIfNeeded: word(68))))
    }
}

/// Why bytes are no header.
package struct HeaderFault: Error, Hashable, Sendable {
    package let reason: String

    init(_ reason: String) { self.reason = reason }
}
