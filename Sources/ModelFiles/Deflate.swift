internal import CZlib
package import ManagedObjectModel

/// Raw DEFLATE, without zlib header or checksum, as `Z_MODELCACHE` holds it.
package enum Deflate {
    /// What a cached model may inflate to, in bytes; real ones stay below 1 MiB.
    package static let outputLimit = 16 << 20

    /// Window bits of zlib; a negative number asks for a raw stream.
    private static let rawWindowBits: Int32 = -15
    private static let memoryLevel: Int32 = 8
    private static let chunkSize = 64 << 10

    /// Compresses bytes at zlib's default level.
    ///
    /// - Throws: `ModelError.unsupported` for 4 GiB or more, or where memory is short.
    package static func compress(_ bytes: [UInt8]) throws(ModelError) -> [UInt8] {
        guard UInt32(exactly: bytes.count) != nil else {
            throw .unsupported("\(bytes.count) bytes are too many to compress at once")
        }
        let stream = allocateStream()
        defer { stream.deallocate() }
        let started = deflateInit2_(
            stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, rawWindowBits, memoryLevel,
            Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard started == Z_OK else { throw .unsupported("zlib cannot start: \(started)") }
        defer { deflateEnd(stream) }
        let (output, status) = run(stream, bytes, limit: Int.max) { deflate(stream, Z_FINISH) }
        guard status == Z_STREAM_END else {
            throw .unsupported("zlib cannot compress \(bytes.count) bytes: \(status)")
        }
        return output
    }

    /// Inflates bytes that may be anything; what follows the end of the stream is ignored.
    ///
    /// - Throws: `ModelError.malformed` where the stream is broken, ends early or holds more
    ///   than the limit.
    package static func inflate(
        _ bytes: [UInt8], limit: Int = outputLimit
    ) throws(ModelError) -> [UInt8] {
        guard UInt32(exactly: bytes.count) != nil else {
            throw .malformed("\(bytes.count) compressed bytes are too many")
        }
        let stream = allocateStream()
        defer { stream.deallocate() }
        let started = inflateInit2_(
            stream, rawWindowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard started == Z_OK else { throw .unsupported("zlib cannot start: \(started)") }
        defer { inflateEnd(stream) }
        let (output, status) = run(stream, bytes, limit: limit) {
            CZlib.inflate(stream, Z_NO_FLUSH)
        }
        guard output.count <= limit else {
            throw .malformed("the compressed bytes hold more than \(limit) bytes")
        }
        guard status == Z_STREAM_END else {
            throw .malformed("the compressed bytes are broken or end early: \(status)")
        }
        return output
    }

    /// zlib remembers the address of its stream, so it must have one that stays.
    private static func allocateStream() -> UnsafeMutablePointer<z_stream> {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        return stream
    }

    /// Steps until the stream ends, fails, wants input that is not there, or passes the limit.
    private static func run(
        _ stream: UnsafeMutablePointer<z_stream>, _ bytes: [UInt8], limit: Int,
        _ step: () -> Int32
    ) -> (output: [UInt8], status: Int32) {
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: chunkSize)
        var input = bytes
        var status = Z_OK
        input.withUnsafeMutableBufferPointer { source in
            stream.pointee.next_in = source.baseAddress
            stream.pointee.avail_in = UInt32(source.count)
            while status == Z_OK && output.count <= limit {
                let written = chunk.withUnsafeMutableBufferPointer { target in
                    stream.pointee.next_out = target.baseAddress
                    stream.pointee.avail_out = UInt32(target.count)
                    status = step()
                    return target.count - Int(stream.pointee.avail_out)
                }
                output += chunk[..<written]
            }
            stream.pointee.next_in = nil
            stream.pointee.next_out = nil
        }
        return (output, status)
    }
}
