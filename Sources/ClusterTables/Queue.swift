/// First in, first out; each operation O(1) on average.
package struct Queue<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var head = 0

    package init() {}

    package var count: Int { elements.count - head }
    package var isEmpty: Bool { count == 0 }
    package var first: Element? { isEmpty ? nil : elements[head] }

    /// Puts an element before all others; O(n) where nothing was taken yet.
    package mutating func prepend(_ element: Element) {
        if head > 0 {
            head -= 1
            elements[head] = element
        } else {
            elements.insert(element, at: 0)
        }
    }

    /// Adds an element behind all others; amortized O(1).
    package mutating func append(_ element: Element) { elements.append(element) }

    /// Takes the first element out; nil where there is none; amortized O(1).
    package mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        if head > 32, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Everything, the oldest first.
    package var all: [Element] { elements[head...].compactMap { $0 } }

    /// Removes the elements that fulfil a condition; O(n).
    package mutating func removeAll(where condition: (Element) -> Bool) {
        elements = elements[head...].filter { $0.map { !condition($0) } ?? false }
        head = 0
    }
}
