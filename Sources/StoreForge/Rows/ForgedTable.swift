import CoreDataStore
import ManagedObjectModel

/// The rows of one entity table, computed and never kept.
///
/// A row has an *ordinal*, its place in key order, and a *slot*, its place when rows are sorted
/// by entity number. Entities are numbered depth first, so the objects of an
/// entity with all that inherit from it are one range of slots.
struct ForgedTable {
    /// The rows of one concrete entity.
    struct Part {
        let entity: String
        let number: Int64
        let slots: Range<Int>
    }

    let layout: TableLayout
    let count: Int
    let parts: [Part]
    private let order: Permutation?
    private let firstKey: Int64
    /// Keys per row, in 65536ths.
    private let stretch: UInt64
    private let salt: UInt64

    init(
        _ table: TableLayout, layout: StoreLayout, recipe: ForgeRecipe
    ) throws(ForgeError) {
        var parts: [Part] = []
        var next = 0
        for entity in layout.model.family(of: table.rootEntity) {
            let rows = entity.isAbstract ? 0 : recipe.rows[entity.name] ?? recipe.defaultRows
            let (end, overflow) = next.addingReportingOverflow(rows)
            guard !overflow, end < ForgeRecipe.rowLimit else {
                throw .recipe("table \(table.name) would have too many rows")
            }
            parts.append(
                Part(
                    entity: entity.name, number: Int64(layout.number(of: entity.name) ?? 0),
                    slots: next..<end))
            next = end
        }
        self.layout = table
        self.parts = parts
        count = next
        salt = ForgeHash.salt(recipe.seed, table.name)
        let isMixed = recipe.keyOrder == .interleaved && parts.count { !$0.slots.isEmpty } > 1
        order = isMixed ? Permutation(count: next, salt: salt) : nil
        firstKey = recipe.firstKey
        stretch = UInt64(65536 / (1 - recipe.deletedShare))
    }

    @inline(__always)
    func slot(ofOrdinal ordinal: Int) -> Int { order?.forward(ordinal) ?? ordinal }

    @inline(__always)
    func ordinal(ofSlot slot: Int) -> Int { order?.backward(slot) ?? slot }

    /// The key of a row; keys grow with ordinals.
    @inline(__always)
    func key(ofOrdinal ordinal: Int) -> Int64 {
        let start = (UInt64(ordinal) * stretch) >> 16
        guard stretch > 65536 else { return firstKey + Int64(start) }
        let gap = ((UInt64(ordinal) + 1) * stretch) >> 16 - start
        return firstKey + Int64(start + ForgeHash.number(salt, ordinal) % max(1, gap))
    }

    /// The key of a row by its slot.
    @inline(__always)
    func key(ofSlot slot: Int) -> Int64 { key(ofOrdinal: ordinal(ofSlot: slot)) }

    /// `Z_MAX` when only the first rows are there: the highest key ever given out, deleted
    /// objects included.
    func maximum(afterRows rows: Int) -> Int64 {
        rows == 0 ? 0 : firstKey - 1 + Int64((UInt64(rows) * stretch) >> 16)
    }

    /// The concrete entity of a slot.
    func part(ofSlot slot: Int) -> Part {
        if parts.count == 1 { return parts[0] }
        var (low, high) = (0, parts.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if parts[middle].slots.upperBound > slot { high = middle } else { low = middle + 1 }
        }
        return parts[low]
    }

    /// The slots of an entity and all that inherit from it; empty for one of another table.
    func slots(ofFamily names: [String]) -> Range<Int> {
        let members = parts.filter { names.contains($0.entity) }
        guard let first = members.first, let last = members.last else { return 0..<0 }
        return first.slots.lowerBound..<last.slots.upperBound
    }
}
