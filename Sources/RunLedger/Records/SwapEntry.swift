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

    /// How far it is.
    ///
    /// The words are those of ledgers, so they never change.
    package enum Phase: String, Hashable, Sendable, Codable, CaseIterable {
        /// It may be taken from now on.
        case planned = "move"
        case done = "moved"
        /// It will never be taken, because the store changed meanwhile.
        case void = "given up"
        /// Files of a backup became copies.
        case copied
    }

    package let kind: Kind
    package let phase: Phase
    /// What a later start has to know, such as names of files; the caller's own shape.
    package let detail: String

    package init(_ kind: Kind, _ phase: Phase, detail: String = "") {
        self.kind = kind
        self.phase = phase
        self.detail = detail
    }

    /// Whether nothing is left to do.
    package var isDone: Bool { phase != .planned }
}
