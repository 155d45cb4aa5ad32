package import Foundation
package import ManagedObjectModel

/// Reads whole files up to a limit.
package enum BoundedFile {
    /// The bytes of a regular file.
    ///
    /// - Throws: `ModelError.unreadable` where it is absent, not a regular file or too large.
    package static func read(_ file: URL, limit: Int) throws(ModelError) -> [UInt8] {
        do {
            // Asked first, because opening a pipe could block without end.
            let path = file.resolvingSymlinksInPath().path
            let facts = try FileManager.default.attributesOfItem(atPath: path)
            guard facts[.type] as? FileAttributeType == .typeRegular else {
                throw ModelError.unreadable("\(file.path) is not a regular file")
            }
            let handle = try FileHandle(forReadingFrom: file)
            let bytes = try handle.read(upToCount: limit + 1) ?? Data()
            try handle.close()
            guard bytes.count <= limit else {
                throw ModelError.unreadable(
                    "\(file.path) has more than \(limit) bytes; is it the right file?")
            }
            return [UInt8](bytes)
        } catch let error as ModelError {
            throw error
        } catch {
            throw .unreadable("\(file.path)\(reason(of: error))")
        }
    }

    /// Why a file or folder cannot be read, to follow its name at once.
    static func reason(of error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile?, .fileNoSuchFile?: " does not exist"
        case .fileReadNoPermission?: " may not be read by this user"
        default: ": \(error.localizedDescription)"
        }
    }

    /// Whether a folder is there.
    package static func isFolder(_ place: URL) -> Bool {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: place.path, isDirectory: &isFolder)
        return exists && isFolder.boolValue
    }
}
