import ManagedObjectModel

/// Which values attributes hold that are no numbers.
enum ValueFit {
    /// Whether an attribute of that type holds the value as it is.
    static func isHeld(_ value: DefaultValue, by type: AttributeType) -> Bool {
        switch (value, type) {
        case (.text, .string), (.uri, .uri), (.data, .binary), (.uuid, .uuid): true
        case (.data, .transformable): true
        case (.date(let seconds), .date): seconds.isFinite
        default: false
        }
    }
}
