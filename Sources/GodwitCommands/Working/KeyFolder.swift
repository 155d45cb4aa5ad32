import DurableFiles
import ZeroMQ

/// The folder of a worker's keys: its own secret one and its coordinator's public one, each the
/// 40 characters of Z85 on a line.
struct KeyFolder {
    static let secretName = "secret.key"
    static let coordinatorName = "coordinator.pub"
    /// More than a key and its line break take.
    private static let longestFile = 1024

    let keys: KeyPair
    let coordinator: PublicKey

    /// Reads the keys.
    ///
    /// - Throws: `CommandFailure` for a file that is missing or holds no key, and for a secret
    ///   that others may read.
    init(_ folder: FilePath) throws(CommandFailure) {
        let secret = folder.appending(FilePath(Self.secretName))
        let text = try Self.line(of: secret)
        let permissions = try Self.reading(secret) { () throws(DurableFileError) in
            try FileStatus(of: secret).permissions
        }
        guard permissions & 0o077 == 0 else {
            throw .usage("\(secret) may be read by others; run chmod 600 \(secret)")
        }
        let peer = folder.appending(FilePath(Self.coordinatorName))
        let peerText = try Self.line(of: peer)
        keys = try Self.key(secret) { () throws(ZeroMQError) in
            try KeyPair(secretKey: SecretKey(text))
        }
        coordinator = try Self.key(peer) { () throws(ZeroMQError) in try PublicKey(peerText) }
    }

    private static func line(of path: FilePath) throws(CommandFailure) -> String {
        let bytes = try reading(path) { () throws(DurableFileError) in
            try DurableFileSystem().contents(of: path, limit: longestFile)
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
            throw .usage("the key \(path) cannot be read: \(error)")
        }
    }

    private static func key<Key>(
        _ path: FilePath, _ body: () throws(ZeroMQError) -> Key
    ) throws(CommandFailure) -> Key {
        do throws(ZeroMQError) { return try body() } catch { throw .usage("\(path): \(error)") }
    }
}
