package import DurableFiles
import RunReports
import ZeroMQ

/// The single files of a folder of keys: one key each, 40 characters of Z85 on a line.
package enum KeyFiles {
    /// The file of a secret key.
    package static let secretName = "secret.key"
    /// The file of the public key that goes with it.
    package static let publicName = "public.key"
    /// The file of the coordinator's public key, beside those of a worker or client.
    package static let coordinatorName = "coordinator.pub"
    /// What the names of the keys on the list end with.
    package static let allowedSuffix = ".pub"
    /// More than a key and its line break take.
    private static let longestFile = 1024
    /// Rights of others that make a secret none, and those that let them exchange files.
    private static let (anyRight, writing, sticky) = (UInt32(0o077), UInt32(0o022), UInt32(0o1000))

    /// The pair of a folder's secret key.
    ///
    /// - Throws: `CommandFailure` for a file that is missing or holds no key, and where others
    ///   may read it or exchange it.
    static func pair(in folder: FilePath) throws(CommandFailure) -> KeyPair {
        try checkNotWritable(folder)
        let path = folder.appending(secretName)
        let status = try reading(path) { () throws(DurableFileError) in try FileStatus(of: path) }
        guard status.permissions & anyRight == 0 else {
            throw .usage("other users can read \(path). Run chmod 600 \(path)")
        }
        let text = try line(of: path)
        return try key(path) { () throws(ZeroMQError) in try KeyPair(secretKey: SecretKey(text)) }
    }

    /// The public key in a file.
    ///
    /// - Throws: `CommandFailure` for a file that is missing or holds no key.
    static func publicKey(_ path: FilePath) throws(CommandFailure) -> PublicKey {
        let text = try line(of: path)
        return try key(path) { () throws(ZeroMQError) in try PublicKey(text) }
    }

    /// Checks that others cannot exchange what a folder holds.
    ///
    /// - Throws: `CommandFailure` where they can, and for a folder that is not there.
    package static func checkNotWritable(_ folder: FilePath) throws(CommandFailure) {
        let status = try reading(folder) { () throws(DurableFileError) in
            try FileStatus(of: folder)
        }
        guard status.isFolder else { throw .usage("\(folder) is not a folder of keys") }
        guard status.permissions & writing == 0 || status.permissions & sticky != 0 else {
            throw .usage(
                "other users can replace the keys in \(folder). Run chmod go-w \(folder)")
        }
    }

    /// The names in a folder that do not begin with a dot, shorter ones first, so that numbers
    /// at their ends are in order; nil where there is no such folder.
    static func names(in folder: FilePath) throws(CommandFailure) -> [String]? {
        try reading(folder) { () throws(DurableFileError) in
            guard try FileStatus.ifPresent(folder)?.isFolder == true else { return nil }
            return try DurableFileSystem(links: .followed).names(in: folder).map(\.description)
                .filter { !$0.hasPrefix(".") }
                .sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
        }
    }

    /// Whether a file or folder is there.
    package static func isThere(_ path: FilePath) throws(CommandFailure) -> Bool {
        try reading(path) { () throws(DurableFileError) in
            try FileStatus.ifPresent(path) != nil
        }
    }

    private static func line(of path: FilePath) throws(CommandFailure) -> String {
        let bytes = try reading(path) { () throws(DurableFileError) in
            try DurableFileSystem(links: .followed).contents(of: path, limit: longestFile)
        }
        let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
        return String(decoding: line, as: UTF8.self)
    }

    private static func reading<Result>(
        _ path: FilePath, _ body: () throws(DurableFileError) -> Result
    ) throws(CommandFailure) -> Result {
        do throws(DurableFileError) {
            return try body()
        } catch {
            // A path that leads to no key was given wrong; what the system refuses is not.
            let isMistake = error.number == nil || error.isMissing
            throw CommandFailure(
                isMistake ? .usage : .inputOutput,
                "the keys of \(path) cannot be read: \(error)")
        }
    }

    private static func key<Key>(
        _ path: FilePath, _ body: () throws(ZeroMQError) -> Key
    ) throws(CommandFailure) -> Key {
        do throws(ZeroMQError) { return try body() } catch { throw .usage("\(path): \(error)") }
    }
}
