/// A store by its run and its number there.
package struct StoreKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let run: String
    package let number: Int

    package init(run: String, number: Int) {
        self.run = run
        self.number = number
    }

    package static func < (left: StoreKey, right: StoreKey) -> Bool {
        (left.run, left.number) < (right.run, right.number)
    }

    package var description: String { "\(run)/\(number)" }
}
