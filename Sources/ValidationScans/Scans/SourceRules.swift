import CoreDataStore
import ManagedObjectModel
import MappingModel
import SafeSQLite
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
        /// Of `lostList`: columns whose values or links go nowhere.
        let lost: Range<Int>
        /// Of `subjects`: the entity itself, where its objects go nowhere.
        let gone: Int?
    }

    private(set) var cells: [CellRule] = []
    /// What the sums of the rules are called.
    private(set) var labels: [String] = []
    /// What is lost of replaced values, by the places of the rules.
    private(set) var replacements: [(cell: Int, subject: Loss.Subject)] = []
    private(set) var programs: [Program] = []
    /// Where each program's rows go.
    private(set) var fates: [Fate] = []
    private(set) var entities: [Entity?] = []
    private(set) var linkList: [Int] = []
    private(set) var strayList: [Int] = []
    /// Tests in `lostTests` with the places of their subjects.
    private(set) var lostList: [(test: Int, subject: Int)] = []
    /// Columns that are tested for null, without loading what they hold.
    private(set) var lostTests: [String] = []
    /// Of what rows of the table may lose something.
    private(set) var subjects: [Loss.Subject] = []
    private(set) var constants: [StoredConstant] = []
    private(set) var computed: ComputedRules
    /// Tells rows of one entity apart; nil where all go the same way.
    let split: SplitReader?
    /// The columns that a pass reads.
    private(set) var list: SelectList
    /// The root entity of the table.
    let name: String
    /// The only entity of the table, whatever its rows say; nil where several share it.
    let onlyEntity: Int64?

    /// Makes the rules of a table.
    ///
    /// `places`: all stored relationships of the destination.
    /// `links`: readers of the table's links.
    /// `list`: with the columns that these read.
    /// `destination`: only for rows that go this way, without strays and losses; nil for all.
    init(
        _ table: TableLayout, scope: ValidationScope, places: [LinkLocation],
        links: [LinkReader], list: SelectList, destination: ValidationScope.Way?
    ) {
        self.list = list
        computed = ComputedRules(now: scope.now)
        split = SplitReader(table.name, scope)
        name = table.rootEntity
        onlyEntity = scope.source.onlyEntity(of: table)
        for kind in scope.kinds(ofFamily: table.rootEntity) {
            let number = kind.number
            let starts = (programs.count, linkList.count, strayList.count, lostList.count)
            for (mapped, fate) in scope.fates(of: kind)
            where destination.map({ $0.destination == fate.table && $0.layer == fate.layer })
                ?? true
            {
                let made = EntityRules(
                    mapped, fate, scope: scope, list: &self.list, constants: &constants,
                    computed: &computed)
                let places = cells.count..<(cells.count + made.cells.count)
                programs.append(Program(offset: fate.offset, cells: places))
                fates.append(fate)
                replacements += made.replacements.map {
                    ($0.cell + places.lowerBound, $0.subject)
                }
                cells += made.cells
                labels += made.labels
            }
            linkList += links.indices.filter { links[$0].accepts(rowOf: number) }
            var gone: Int?
            if destination == nil {
                let losses = LossRules(of: kind, in: table, scope: scope, places: places)
                gone = losses.entity.map { subject(of: $0) }
                lostList += losses.columns.map { (test(of: $0.name), subject(of: $0.subject)) }
                strayList += table.columns.filter {
                    !scope.source.uses($0, by: kind.entity)
                }.map { self.list.place(of: $0.name) }
            }
            while entities.count <= number { entities.append(nil) }
            entities[Int(number)] = Entity(
                programs: starts.0..<programs.count, links: starts.1..<linkList.count,
                strays: starts.2..<strayList.count, lost: starts.3..<lostList.count, gone: gone)
        }
    }

    private mutating func subject(of subject: Loss.Subject) -> Int {
        if let known = subjects.firstIndex(of: subject) { return known }
        subjects.append(subject)
        return subjects.count - 1
    }

    private mutating func test(of column: String) -> Int {
        if let known = lostTests.firstIndex(of: column) { return known }
        lostTests.append(column)
        return lostTests.count - 1
    }

    /// Whether all that a pass reads are columns.
    var areColumns: Bool {
        list.isPlain && computed.inputs.isEmpty && split?.inputs.isEmpty ?? true
    }

    /// The place of the first input of computed values in a row of the pass.
    var firstInput: Int { list.names.count + lostTests.count }

    /// The place of the first input of filters in a row of the pass.
    private var firstFilterInput: Int { firstInput + computed.inputs.count }

    /// The statement of a pass over some keys: the columns of `list`, the tests, and the inputs of
    /// computed values and filters.
    func sql(table: String, range: KeyRange) -> SQLText {
        list.sql(
            table: table, key: "Z_PK", range: range,
            extra: lostTests.map { "\(SQLText.quoted($0)) IS NOT NULL" } + computed.inputs
                + (split?.inputs ?? []))
    }

    /// The number that says what becomes of a row of the pass; nil where nothing is known of such
    /// rows.
    ///
    /// `number`: of the row's entity.
    @inline(__always)
    func number(_ number: Int64, _ row: RawRow, key: Int64) throws(StoreError) -> Int64? {
        guard let split else { return number }
        return try split.number(number, row, first: firstFilterInput, key: key)
    }
}
