import DurableFiles
import SafeSQLite

/// What is looked at of a stranger's database before SQLite sees it.
enum StrangersFile {
    /// What is wrong with the file itself.
    ///
    /// - Throws: `DurableFileError` where it cannot be read.
    static func faults(
        of path: FilePath, _ files: DurableFileSystem
    ) throws(DurableFileError) -> [String] {
        let file = try files.openForReading(path)
        let size = try file.status().size
        switch DatabaseHeader.read(try file.read(count: 100, at: 0)) {
        case .failure(let fault): return [fault.reason]
        case .success(let header):
            let told = header.pageCount * Int64(header.pageSize)
            return told == size ? [] : ["its length is not that of its header"]
        }
    }
}
