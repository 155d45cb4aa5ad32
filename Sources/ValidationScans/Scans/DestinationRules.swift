import CoreDataStore
import ManagedObjectModel
import StoreFileChecks

/// What is read of the rows of one destination table: the part of a pass that is the same for
/// every store of its version.
struct DestinationRules: Sendable {
    /// One attribute, or one of the leading columns.
    struct StoredCell: Sendable {
        let column: Int
        let seed: HashSeed
        let isRequired: Bool
    }

    /// What is done with rows of one entity: ranges of the lists below, so that a loop over rows
    /// touches no counted reference.
    struct Entity: Sendable {
        /// Of `cells`.
        let cells: Range<Int>
        /// Of `indexedList`: columns that indexes hold and that are not among the cells.
        let indexed: Range<Int>
        /// Of `strayList`: columns that its rows should leave empty.
        let strays: Range<Int>
        /// Of `linkList`: readers of links that its rows hold.
        let links: Range<Int>
    }

    /// A column of an index, and the place of the index's condition.
    struct IndexColumn: Sendable {
        let index: Int
        let column: Int
        let condition: Int?
    }

    private(set) var cells: [StoredCell] = []
    /// What the sums of the cells are called.
    private(set) var labels: [String] = []
    private(set) var entities: [Entity?] = []
    private(set) var names: [String] = []
    private(set) var indexedList: [Int] = []
    private(set) var strayList: [Int] = []
    private(set) var linkList: [Int] = []
    /// For rows whose entity is unknown: indexes hold them all the same.
    let fallback: Entity
    let indexes: [IndexFacts]
    /// Of all indexes.
    private(set) var indexColumns: [IndexColumn] = []
    let seeds: [HashSeed]
    /// The columns that a pass reads.
    let list: SelectList

    /// Makes the rules of a table.
    ///
    /// `links`: readers of the table's links.
    /// `list`: with the table's columns and those that the readers read.
    /// `indexes`: whose entries are summed along.
    init(
        _ table: TableLayout, layout: StoreLayout, links: [LinkReader], list given: SelectList,
        indexes: [IndexFacts]
    ) {
        var list = given
        self.indexes = indexes
        let columns = indexes.map { index in index.columns.map { list.place(of: $0.name) } }
        var next = list.names.count
        for (number, index) in indexes.enumerated() {
            let condition = index.condition.map { _ in next }
            if condition != nil { next += 1 }
            indexColumns += columns[number].map {
                IndexColumn(index: number, column: $0, condition: condition)
            }
        }
        seeds = list.names.map { HashSeed("\(table.name).\($0)") }
        self.list = list
        let indexed = Set(columns.joined()).sorted()
        indexedList = indexed
        fallback = Entity(cells: 0..<0, indexed: 0..<indexed.count, strays: 0..<0, links: 0..<0)
        for member in layout.model.family(of: table.rootEntity) {
            guard let number = layout.number(of: member.name) else { continue }
            let starts = (cells.count, indexedList.count, strayList.count, linkList.count)
            addCells(of: member.name, table: table, layout: layout, list: &list)
            let own = Set(cells[starts.0...].map(\.column))
            indexedList += indexed.filter { !own.contains($0) }
            strayList += table.columns.filter { !layout.uses($0, by: member.name) }
                .map { list.place(of: $0.name) }
            linkList += links.indices.filter { links[$0].accepts(rowOf: Int64(number)) }
            while entities.count <= number {
                entities.append(nil)
                names.append(table.name)
            }
            names[number] = member.name
            entities[number] = Entity(
                cells: starts.0..<cells.count, indexed: starts.1..<indexedList.count,
                strays: starts.2..<strayList.count, links: starts.3..<linkList.count)
        }
    }

    /// The cells of an entity in the order of the columns, the leading two first.
    private mutating func addCells(
        of entity: String, table: TableLayout, layout: StoreLayout, list: inout SelectList
    ) {
        for name in EntityRules.leading {
            cells.append(
                StoredCell(
                    column: list.place(of: name), seed: HashSeed("\(table.name).\(name)"),
                    isRequired: false))
            labels.append("\(entity).\(name)")
        }
        for column in table.columns {
            guard case .attribute(let key) = column.role, layout.uses(column, by: entity) else {
                continue
            }
            cells.append(
                StoredCell(
                    column: list.place(of: column.name),
                    seed: HashSeed("\(table.name).\(column.name)"),
                    isRequired: EntityRules.isRequired(column, in: layout)))
            labels.append("\(entity).\(key.property)")
        }
    }
}
