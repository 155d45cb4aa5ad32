/// How work is shared out, wherever it is planned or done.
package enum SharingConstants {
    /// Small stores in one batch.
    package static let batchStores = 16
    /// Bytes of small stores in one batch.
    package static let batchBytes: Int64 = 16 << 20

    /// How many copied shards of a store may wait for their merge, those that are being made
    /// included.
    ///
    /// - Parameter slots: jobs at a time.
    /// - Returns: at least 3.
    package static func unmergedShards(slots: Int) -> Int { max(1, slots) * 2 + 1 }
}
