/// What the pages of a database have in common (SQLite file format §1.6).
package struct PageFormat: Hashable, Sendable {
    package let pageSize: Int
    /// Bytes of a page that SQLite uses.
    package let usable: Int

    /// The most bytes of a record that stand in a leaf of a table.
    var mostOfLeaf: Int { usable - 35 }

    /// How many bytes of a record are in its own page, where at most so many can be.
    func local(_ count: Int, most: Int) -> Int {
        if count <= most { return count }
        let least = (usable - 12) * 32 / 255 - 23
        let rest = least + (count - least) % (usable - 4)
        return rest <= most ? rest : least
    }
}
