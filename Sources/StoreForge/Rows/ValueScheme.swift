import ManagedObjectModel

/// What the values of one attribute are like.
struct ValueScheme {
    let type: AttributeType
    let salt: UInt64
    /// The part that is NULL: none for required attributes.
    let null: Share
    /// Lengths of texts and bytes.
    let lengths: ClosedRange<Int>
    /// Whether values carry the prefix byte of external storage (format page §8).
    let isExternal: Bool
    /// Whether no two rows may have the same value.
    let isUnique: Bool
}

extension AttributeType {
    /// Whether any number of rows can have values that differ.
    var canBeUnique: Bool {
        switch self {
        case .integer32, .integer64, .decimal, .double, .string, .date, .binary, .uuid, .uri,
            .transformable:
            true
        case .integer16, .float, .boolean, .undefined, .objectID, .composite: false
        }
    }
}
