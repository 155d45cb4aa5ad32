/// What a name that does not exist may have been meant to be.
///
/// Names of versions, and of commands.
package enum NameSuggestion {
    /// The names that differ least, the nearest first; those that are too far away are none.
    ///
    /// - Parameters:
    ///   - name: what was given.
    ///   - names: those that exist.
    /// - Returns: at most three.
    /// - Complexity: O(names × their length × the length of the given one).
    package static func nearest(to name: String, among names: some Sequence<String>) -> [String] {
        let wanted = key(name)
        // Of a short name little is left when letters of it are wrong.
        let limit = min(max(2, wanted.count / 3), wanted.count - 1)
        let found = names.compactMap { other -> (name: String, distance: Int)? in
            guard other != name else { return nil }
            let letters = key(other)
            // A part of a name is what people remember of it.
            let isPart = wanted.count > 1 && letters.contains(wanted)
            let distance = isPart ? min(1, letters.count - wanted.count) : edits(wanted, letters)
            return distance <= limit ? (other, distance) : nil
        }
        // Of equally near ones, those of the same length, and later versions.
        let order = found.enumerated().sorted { left, right in
            let lengths = (
                abs(left.element.name.count - name.count),
                abs(right.element.name.count - name.count)
            )
            return (left.element.distance, lengths.0, -left.offset)
                < (right.element.distance, lengths.1, -right.offset)
        }
        return order.prefix(3).map(\.element.name)
    }

    /// What is compared: spaces and signs between letters are easily left out.
    private static func key(_ name: String) -> [Unicode.Scalar] {
        let letters = name.lowercased().unicodeScalars.filter {
            $0.properties.isAlphabetic || $0.properties.numericType != nil
        }
        return Array(letters.prefix(lengthLimit))
    }

    /// Longer names are compared by their beginning.
    private static let lengthLimit = 200

    /// How many letters must be put in, taken out or replaced.
    private static func edits(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var row = Array(0...right.count)
        for (place, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = place + 1
            for (column, other) in right.enumerated() {
                let replaced = diagonal + (letter == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column + 1] + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }

    /// What a message says of a name that does not exist, such as of a version of a bundle.
    ///
    /// - Parameters:
    ///   - name: of the version.
    ///   - names: of those that it has, in their natural order.
    ///   - noun: what they are names of.
    /// - Returns: a sentence without its point: what may be meant, or what there is.
    package static func hint(
        _ name: String, _ names: [String], noun: String = "versions"
    ) -> String {
        let nearest = nearest(to: name, among: names)
        if !nearest.isEmpty { return "Did you mean \(nearest.joined(separator: " or "))?" }
        return list(names, noun: noun)
    }

    /// A sentence without its point on the names that there are: all of a few, else the ends.
    package static func list(_ names: [String], noun: String = "versions") -> String {
        guard !names.isEmpty else { return "It has none" }
        guard names.count > listLimit else { return "It has: \(names.joined(separator: ", "))" }
        let ends = names.prefix(listLimit / 2) + ["…"] + names.suffix(listLimit / 2)
        return "It has \(names.count) \(noun): \(ends.joined(separator: ", "))"
    }

    /// How many versions a message lists.
    private static let listLimit = 12
}
