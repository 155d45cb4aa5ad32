/// One step of a swap or of a rollback, written before it is taken and again when it is done.
package struct SwapEntry: Hashable, Sendable, Codable {
    /// Which way the files move.
    package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// The result takes the store's name.
        case swap
        /// The original takes its name back.
        case rollback
        /// Files of a backup are others than the swap's entry says.
        case backup
    }

    package let kind: Kind
    /// Its place in the order of the steps.
    package let index: Int
    /// What is done, such as `link-backup`.
    package let name: String
    /// False before the step, true after it.
    package let isDone: Bool
    /// What a later start has to know, such as names of files; the caller's own shape.
    package let detail: String

    package init(kind: Kind, index: Int, name: String, isDone: Bool, detail: String) {
        self.kind = kind
        self.index = index
        self.name = name
        self.isDone = isDone
        self.detail = detail
    }
}
