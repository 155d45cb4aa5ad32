import ManagedObjectModel

/// What the values of one attribute are like.
struct ValueScheme {
    let type: AttributeType
    let salt: UInt64
    /// The part that is NULL: none for required attributes.
    let null: Share
    /// Lengths of texts and bytes.
    let lengths: ClosedRange<Int>
    /// Whether values carry the prefix byte of external storage.
    let isExternal: Bool
    /// Whether no two rows may have the same value.
    let isUnique: Bool
    /// What gives the values of a binary attribute instead of the seed.
    var content: (@Sendable (Int) throws -> [UInt8]?)?
}

extension AttributeType {
    /// Whether so many rows can have values that all differ.
    func canDiffer(inRows rows: Int) -> Bool {
        switch self {
        case .integer32, .integer64, .decimal, .double, .string, .date, .binary, .uuid, .uri,
            .transformable:
            true
        case .integer16: rows <= Int(Int16.max)
        // Floats hold halves exactly up to 2²³.
        case .float: rows <= 1 << 23
        case .boolean, .undefined, .objectID, .composite: false
        }
    }
}
