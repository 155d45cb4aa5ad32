/// One start of a connection of a worker: its routing id as text.
///
/// It changes with every start and every reconnect; a worker's lasting name is a `String`.
package struct ConnectionID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init(_ text: String) { self.text = text }

    package var description: String { text }
}

/// A client that asked for something, as the loop knows it.
package struct ClientID: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }
}

/// A piece of work beside the loop; unique in one life of a coordinator.
package struct TaskID: Hashable, Sendable, Comparable {
    package let number: Int

    package init(_ number: Int) { self.number = number }

    package static func < (left: TaskID, right: TaskID) -> Bool { left.number < right.number }
}
