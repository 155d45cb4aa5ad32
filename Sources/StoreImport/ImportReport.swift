/// How many objects and links were written.
package struct ImportCounts: Hashable, Sendable, Encodable {
    package var inserted = 0
    /// Objects that were there already.
    package var updated = 0
    package var links = 0
    /// Links that waited for their targets, and that later lines or the app replaced.
    package var droppedLinks = 0

    package init() {}
}

/// How far an import is.
package struct ImportProgress: Hashable, Sendable {
    /// Finished parts, those of earlier runs included.
    package let finishedParts: Int
    package let parts: Int
    package let counts: ImportCounts
    /// Bytes that this run has imported, and bytes that it has to import.
    package let bytes: Int64
    package let allBytes: Int64
}

/// What one run of an import did.
package struct ImportReport: Hashable, Sendable, Encodable {
    package let store: String
    /// Whether this run made the store.
    package let isNew: Bool
    package let parts: Int
    /// Parts that earlier runs had finished.
    package let finishedBefore: Int
    package let counts: ImportCounts
    /// Parts that were removed when they were finished.
    package let removedParts: Int
    /// Numbers between those of the parts that no part has.
    package let missingNumbers: Int
    /// Names of files of the folder that are no parts.
    package let otherFiles: [String]
}
