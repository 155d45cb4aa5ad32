package import ManagedObjectModel

/// One element of an XML document with its attributes and child elements, in document order.
///
/// Text is kept where the reader asks for it: the vocabulary of models has none.
package struct DocumentElement {
    package let name: String
    package let attributes: [String: String]
    /// Line of the opening tag, counted from 1.
    package let line: Int
    package internal(set) var children: [DocumentElement] = []
    /// The text directly in it; empty where text is not kept.
    package internal(set) var content = ""

    /// Children of one name, in document order.
    package func children(named name: String) -> [DocumentElement] {
        children.filter { $0.name == name }
    }

    /// The value of an attribute; nil where it is absent or empty.
    package func text(_ key: String) -> String? {
        guard let value = attributes[key], !value.isEmpty else { return nil }
        return value
    }

    /// The value of an attribute that must be there.
    ///
    /// - Throws: `ModelError.malformed` where it is absent or empty.
    package func required(_ key: String) throws(ModelError) -> String {
        guard let value = text(key) else {
            throw .malformed("line \(line): element \(name) has no \(key)")
        }
        return value
    }

    /// A boolean; an absent one is false.
    ///
    /// - Throws: `ModelError.malformed` for a word that is neither true nor false.
    func flag(_ key: String) throws(ModelError) -> Bool {
        guard let word = text(key) else { return false }
        guard let value = DefaultValue.truth(word) else {
            throw .malformed("line \(line): \(key) of element \(name) is neither YES nor NO")
        }
        return value
    }

    /// A signed 32-bit number; nil where the attribute is absent.
    ///
    /// - Throws: `ModelError.malformed` for anything else.
    func count(_ key: String) throws(ModelError) -> Int32? {
        guard let word = text(key) else { return nil }
        guard let value = Int32(word) else {
            throw .malformed("line \(line): \(key) of element \(name) is not a 32-bit number")
        }
        return value
    }
}
