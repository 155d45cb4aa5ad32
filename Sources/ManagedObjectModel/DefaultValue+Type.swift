extension DefaultValue {
    /// Whether an attribute of a type holds the value as it is; false for every number.
    package func isHeld(by type: AttributeType) -> Bool {
        switch (self, type) {
        case (.text, .string), (.uri, .uri), (.data, .binary), (.uuid, .uuid): true
        case (.data, .transformable): true
        case (.date(let seconds), .date): seconds.isFinite
        default: false
        }
    }
}
