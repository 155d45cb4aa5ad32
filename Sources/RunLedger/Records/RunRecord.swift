package import DurableFiles

/// What was asked for when a run began.
package struct RunRecord: Hashable, Sendable, Codable {
    /// Unique in the ledger; the caller makes it.
    package let id: String
    /// A digest of the request: the same command again has the same one.
    package let requestDigest: String
    /// What was asked, as JSON of the caller's own shape.
    package let request: String
    /// The version of the engine that began the run.
    package let engine: String
    /// Milliseconds since 1970, for people alone.
    package let begunAt: Int64

    package init(
        id: String, requestDigest: String, request: String, engine: String, begunAt: Int64
    ) {
        self.id = id
        self.requestDigest = requestDigest
        self.request = request
        self.engine = engine
        self.begunAt = begunAt
    }
}

/// A store as discovery found it.
package struct FoundStore: Hashable, Sendable {
    /// Its number in the run, from the caller; jobs and receipts name the store by it.
    package let number: Int
    /// Where it lies; any bytes, but no path twice in a run.
    package let location: StoreLocation
    /// Where the result goes; nil where it takes the store's own place.
    package let output: StoreLocation?
    /// The bytes of its files when it was found.
    package let bytes: Int64

    package init(number: Int, location: StoreLocation, output: StoreLocation?, bytes: Int64) {
        self.number = number
        self.location = location
        self.output = output
        self.bytes = bytes
    }

    /// The database file, by which records and messages name the store.
    package var path: FilePath { location.database }
}

/// What the progress of a store depends on: where any of the first three changes, it is void.
package struct Preparation: Hashable, Sendable, Codable {
    /// The original's fingerprint as text.
    package let sourceFingerprint: String
    /// SHA-256 of the plan's file, in hexadecimal.
    package let planDigest: String
    /// The version of the engine that made the plan.
    package let engine: String
    /// Whether a snapshot is read instead of the original.
    package let hasSnapshot: Bool
    /// The machine's boot id: files that were not synced before a reboot are not to be trusted.
    package let bootIdentifier: String
    /// Jobs of the copy stage.
    package let chunks: Int
    /// Jobs of the link stage.
    package let linkChunks: Int

    package init(
        sourceFingerprint: String, planDigest: String, engine: String, hasSnapshot: Bool,
        bootIdentifier: String, chunks: Int, linkChunks: Int
    ) {
        self.sourceFingerprint = sourceFingerprint
        self.planDigest = planDigest
        self.engine = engine
        self.hasSnapshot = hasSnapshot
        self.bootIdentifier = bootIdentifier
        self.chunks = chunks
        self.linkChunks = linkChunks
    }

    /// Whether progress made under the other preparation counts under this one.
    package func keepsProgress(of other: Preparation) -> Bool {
        sourceFingerprint == other.sourceFingerprint && planDigest == other.planDigest
            && engine == other.engine && chunks == other.chunks
            && linkChunks == other.linkChunks
    }
}

/// How a store ended, as its report says.
package enum ReportedOutcome: String, Hashable, Sendable, Codable, CaseIterable {
    case migrated
    /// It had the destination's version already.
    case unchanged
    case failed
}
