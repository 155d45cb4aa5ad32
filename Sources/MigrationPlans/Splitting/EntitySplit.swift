/// A source entity whose objects go different ways because filters tell them apart.
///
/// Objects for which the same filters hold are a variant: it has a number of its own, which stands
/// for the entity's number wherever a plan says what becomes of objects. A store never has it.
package struct EntitySplit: Hashable, Sendable, Codable {
    /// Name of the source entity.
    package var entity: String
    /// Its number in the rows of the source: it stays that of objects for which no filter holds.
    package var number: Int64
    /// The source table of its objects.
    package var table: String
    /// Whether the table holds no other entity, whatever the numbers in its rows say.
    package var isAlone: Bool
    /// The filters, each true or false for a row; bit n of a mask is filter n.
    package var filters: [ComputedCell]
    /// By ascending masks; those that no object has are left out.
    package var variants: [Variant]

    package init(
        entity: String, number: Int64, table: String, isAlone: Bool, filters: [ComputedCell],
        variants: [Variant]
    ) {
        self.entity = entity
        self.number = number
        self.table = table
        self.isAlone = isAlone
        self.filters = filters
        self.variants = variants
    }

    /// Objects for which the same filters hold.
    package struct Variant: Hashable, Sendable, Codable {
        /// Not 0.
        package var mask: Int64
        package var number: Int64

        package init(mask: Int64, number: Int64) {
            self.mask = mask
            self.number = number
        }
    }

    /// The numbers of its objects with their masks; the entity's own with 0.
    package var kinds: [Variant] { [Variant(mask: 0, number: number)] + variants }
}

extension [EntitySplit] {
    /// Whether filters decide what becomes of objects that may stand at an end of links.
    package func decide(on end: RelationEnd) -> Bool {
        contains { split in
            split.kinds.contains { kind in
                end.targets.contains { $0.sourceNumber == kind.number }
            }
        }
    }

    /// The filters of all splits; no two are equal.
    package var computedCells: [ComputedCell] {
        flatMap(\.filters).reduce(into: []) { found, filter in
            if !found.contains(filter) { found.append(filter) }
        }
    }

    /// The number of the entity behind a variant, as rows of the source have it.
    ///
    /// - Parameter number: of a variant or an entity.
    /// - Returns: the number itself where it is no variant's.
    package func storedNumber(of number: Int64) -> Int64 {
        first { $0.variants.contains { $0.number == number } }?.number ?? number
    }
}
