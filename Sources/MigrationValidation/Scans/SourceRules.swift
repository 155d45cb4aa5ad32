import CoreDataStore
import ManagedObjectModel
import StoreFileChecks

/// What rows of one source table must become: the part of a pass that is the same for every
/// store of its version.
struct SourceRules: Sendable {
    /// The rules of one source entity towards one destination entity.
    struct Program: Sendable {
        /// How far keys move.
        let offset: Int64
        /// Places of its rules among all rules.
        let cells: Range<Int>
    }

    /// What is done with rows of one source entity: ranges of the lists below, so that a loop
    /// over rows touches no counted reference.
    struct Entity: Sendable {
        /// Of `programs`.
        let programs: Range<Int>
        /// Of `linkList`: readers of links that its rows hold.
        let links: Range<Int>
        /// Of `strayList`: columns that its rows should leave empty.
        let strays: Range<Int>
    }

    private(set) var cells: [CellRule] = []
    /// What the sums of the rules are called.
    private(set) var labels: [String] = []
    private(set) var programs: [Program] = []
    /// Where each program's rows go.
    private(set) var fates: [Fate] = []
    private(set) var entities: [Entity?] = []
    private(set) var linkList: [Int] = []
    private(set) var strayList: [Int] = []
    private(set) var constants: [StoredConstant] = []
    /// The columns that a pass reads.
    private(set) var list: SelectList
    /// The root entity of the table.
    let name: String
    /// The only entity of the table, whatever its rows say; nil where several share it.
    let onlyEntity: Int64?

    /// Makes the rules of a table.
    ///
    /// `links`: readers of the table's links.
    /// `list`: with the columns that these read.
    /// `destination`: only for rows that go to this table, without strays; nil for all.
    init(
        _ table: TableLayout, scope: ValidationScope, links: [LinkReader], list: SelectList,
        destination: String?
    ) {
        self.list = list
        name = table.rootEntity
        onlyEntity = scope.source.onlyEntity(of: table)
        for member in scope.source.model.family(of: table.rootEntity) {
            guard let number = scope.source.number(of: member.name) else { continue }
            let starts = (programs.count, linkList.count, strayList.count)
            for (mapped, fate) in scope.fates(ofSource: member.name)
            where destination == nil || fate.table == destination {
                let made = EntityRules(
                    mapped, fate, scope: scope, list: &self.list, constants: &constants)
                let places = cells.count..<(cells.count + made.cells.count)
                programs.append(Program(offset: fate.offset, cells: places))
                fates.append(fate)
                cells += made.cells
                labels += made.labels
            }
            linkList += links.indices.filter { links[$0].accepts(rowOf: Int64(number)) }
            if destination == nil {
                strayList += table.columns.filter {
                    !scope.source.uses($0, by: member.name)
                }.map { self.list.place(of: $0.name) }
            }
            while entities.count <= number { entities.append(nil) }
            entities[number] = Entity(
                programs: starts.0..<programs.count, links: starts.1..<linkList.count,
                strays: starts.2..<strayList.count)
        }
    }
}
