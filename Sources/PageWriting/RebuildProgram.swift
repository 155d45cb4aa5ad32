package import CoreDataStore
import ManagedObjectModel
import MappingModel
package import MigrationPlans
package import SafeSQLite

/// What chunks of a plan say, as programs over the records of their source tables.
///
/// Nil stands for what only SQLite's statements say: values that other rows take part in, look-ups,
/// rows that are told apart by filters.
package struct RebuildProgram {
    private let file: LaidOutPlan
    private let source: SourceStore

    /// - Parameters:
    ///   - file: the plan.
    ///   - source: the store that it is about.
    package init(_ file: LaidOutPlan, source: SourceStore) {
        self.file = file
        self.source = source
    }

    private var plan: MigrationPlan { file.plan }

    /// A source table as its records hold it.
    package struct Table {
        /// The root page.
        package let root: UInt32
        private let rowid: String?
        private let fields: [String: RecordProgram.Field]

        /// - Parameters:
        ///   - name: of the table.
        ///   - schema: of the store.
        package init?(_ name: String, _ schema: StoreSchema) {
            guard let columns = schema.columns[name], let object = schema.object(.table, name),
                object.rootPage > 0, object.rootPage <= Int64(Int32.max),
                !schema.tablesWithoutRowids.contains(name),
                !columns.contains(where: { $0.isGenerated || $0.hasDefault })
            else { return nil }
            rowid = schema.rowidColumns[name]
            root = UInt32(object.rootPage)
            fields = Dictionary(
                columns.enumerated().map {
                    ($0.element.name, .init(place: $0.offset, isReal: $0.element.isReal))
                }, uniquingKeysWith: { first, _ in first })
            // Names that are the same to Swift are not to SQLite.
            guard fields.count == columns.count else { return nil }
        }

        /// Where records have a column.
        ///
        /// - Parameter name: of the column.
        /// - Returns: nil also for another name of the rowid: records have NULL there.
        package func field(_ name: String) -> RecordProgram.Field? {
            name == rowid ? nil : fields[name]
        }
    }

    /// What is copied into one table of the destination.
    package struct TableRows {
        package let table: String
        /// Chunks that follow each other are one.
        package fileprivate(set) var chunks: [(chunk: Chunk, rows: TableRebuild.Rows)]
    }

    /// What all chunks give, table by table.
    ///
    /// - Returns: nil where statements have to copy some.
    package func tables() -> [TableRows]? {
        var tables: [TableRows] = []
        for chunk in joinedChunks() {
            guard let rows = rows(chunk) else { return nil }
            let name = table(of: chunk)
            // Chunks of one table follow each other.
            if tables.last?.table != name { tables.append(TableRows(table: name, chunks: [])) }
            tables[tables.count - 1].chunks.append((chunk, rows))
        }
        return tables
    }

    /// The chunks of the plan; those of one table whose keys follow each other are one, because
    /// each reads the whole table.
    private func joinedChunks() -> [Chunk] {
        var chunks: [Chunk] = []
        for chunk in plan.chunks {
            if let last = chunks.last, last.subject == chunk.subject,
                case .keys(let before) = last.selection, case .keys(let keys) = chunk.selection,
                let end = before.upper, let start = keys.lower, end < .max, end + 1 == start
            {
                let range = KeyRange(lower: before.lower, upper: keys.upper)
                chunks[chunks.count - 1].selection = .keys(range)
            } else {
                chunks.append(chunk)
            }
        }
        return chunks
    }

    private func table(of chunk: Chunk) -> String {
        switch chunk.subject {
        case .feed(let place): plan.feeds[place].destinationTable
        case .join(let place, _): plan.joins[place].table
        }
    }

    private func rows(_ chunk: Chunk) -> TableRebuild.Rows? {
        switch chunk.subject {
        case .feed(let place):
            guard plan.feeds.indices.contains(place) else { return nil }
            return rows(plan.feeds[place], chunk.selection)
        case .join(let place, let feed):
            guard plan.joins.indices.contains(place),
                plan.joins[place].feeds.indices.contains(feed),
                case .keys(let range) = chunk.selection
            else { return nil }
            return rows(plan.joins[place], plan.joins[place].feeds[feed], range)
        }
    }

    // MARK: - Objects

    private func rows(_ feed: Feed, _ selection: Selection) -> TableRebuild.Rows? {
        var chosen = Set(feed.entities.map(\.sourceNumber))
        let range: KeyRange
        switch selection {
        case .keys(let keys): range = keys
        case .entities(let numbers, let keys):
            chosen.formIntersection(numbers)
            range = keys
        case .listed: return nil
        }
        guard let table = Table(feed.sourceTable, source.schema),
            source.schema.rowidColumns[feed.sourceTable] == "Z_PK",
            let number = table.field("Z_ENT"), let count = table.field("Z_OPT"),
            let layout = file.destination.tables.first(where: { $0.name == feed.destinationTable }),
            layout.columns.map(\.name) == feed.columns.map(\.name),
            let entities = entities(of: feed.sourceTable)
        else { return nil }
        var programs: [Int64: RecordProgram] = [:]
        for entity in feed.entities where chosen.contains(entity.sourceNumber) {
            var columns: [RecordProgram.Column] = [
                .init(.constant(.null), .blob),
                .init(.constant(.integer(entity.destinationNumber)), .integer),
                .init(.copy(count, orElse: nil), .integer),
            ]
            for (column, place) in zip(feed.columns, layout.columns) {
                let cell = column.cells.first { $0.sourceNumbers.contains(entity.sourceNumber) }
                guard let step = step(cell?.cell, entity.sourceNumber, table) else { return nil }
                columns.append(.init(step, Self.affinity(of: place.type)))
            }
            guard programs.updateValue(RecordProgram(columns), forKey: entity.sourceNumber) == nil
            else { return nil }
        }
        return TableRebuild.Rows(
            root: table.root, keys: range.closed,
            programs: .byNumber(column: number.place, programs), offset: feed.offset, needed: [],
            leavesOut: chosen != entities)
    }

    /// The numbers of the entities of a source table; nil where filters tell its rows apart.
    private func entities(of table: String) -> Set<Int64>? {
        guard !plan.splits.contains(where: { $0.table == table }),
            let layout = file.source.tables.first(where: { $0.name == table })
        else { return nil }
        return Set(
            file.source.model.family(of: layout.rootEntity).compactMap {
                file.source.number(of: $0.name).map { Int64($0) }
            })
    }

    private static func affinity(of type: ColumnType) -> RecordProgram.Affinity {
        switch type {
        case .integer: .integer
        case .decimal, .timestamp: .numeric
        case .float: .real
        case .varchar: .text
        case .blob: .blob
        }
    }

    private func step(_ cell: Cell?, _ number: Int64, _ table: Table) -> RecordProgram.Step? {
        switch cell {
        case nil: return .constant(.null)
        case .column(let name)?: return table.field(name).map { .copy($0, orElse: nil) }
        case .columnOrDefault(let name, let value)?:
            guard let field = table.field(name), let constant = Self.constant(value) else {
                return nil
            }
            return .copy(field, orElse: constant)
        case .constant(let value)?: return Self.constant(value).map { .constant($0) }
        case .computed(let cell)?:
            let fields = cell.inputs.map { table.field($0.column) }
            guard CellComputer.canCompute(cell), !fields.contains(nil) else { return nil }
            return .computed(cell, fields.compactMap { $0 })
        case .addingPrefix(let name)?: return table.field(name).map { .addingPrefix($0) }
        case .removingPrefix(let name)?: return table.field(name).map { .removingPrefix($0) }
        case .key(let key, let entity, _, let targets)?:
            guard let target = target(key, entity, targets, number, table) else { return nil }
            if let offset = targets.commonOffset { return .key(target, offset: .common(offset)) }
            guard target.entity != nil else { return .constant(.null) }
            return .key(target, offset: .byEntity(targets.pairs(\.offset)))
        case .entityNumber(let key, let entity, _, let targets)?:
            guard let target = target(key, entity, targets, number, table) else { return nil }
            guard target.entity != nil else {
                return targets.commonNumber.map { .number(target, .common($0)) }
                    ?? .constant(.null)
            }
            if targets.allSatisfy({ $0.place?.number == $0.sourceNumber }) {
                return .sameNumber(target)
            }
            return .number(target, .byEntity(targets.pairs(\.number)))
        }
    }

    /// What is read of a target; nil where its row has to be looked up.
    private func target(
        _ key: KeyValue, _ entity: KeyValue?, _ targets: [Target], _ number: Int64, _ table: Table
    ) -> RecordProgram.Target? {
        guard plan.options.dangling != .nullify, case .column(let name) = key,
            let field = table.field(name)
        else { return nil }
        let known: RecordProgram.Target.Entity?
        switch entity {
        case nil: known = nil
        case .column(let name)?:
            guard let field = table.field(name) else { return nil }
            known = .field(field.place)
        case .number(let path, _)?:
            guard path.steps.isEmpty else { return nil }
            known = .number(number)
        case .path?: return nil
        }
        return RecordProgram.Target(
            key: field.place, entity: known, lower: targets.keys.lower, upper: targets.keys.upper)
    }

    /// A default as a statement would write it (`SQLText.literal`).
    private static func constant(_ value: DefaultValue) -> RecordProgram.Constant? {
        switch value {
        case .integer(let number): .integer(number)
        case .boolean(let flag): .integer(flag ? 1 : 0)
        case .real(let number), .date(let number): number.isFinite ? .real(number) : nil
        case .decimal(let text):
            Double(text).flatMap { $0.isFinite ? .real($0) : nil }
        case .text(let text), .uri(let text): .text(Array(text.utf8))
        case .data(let bytes), .uuid(let bytes): .blob(bytes)
        }
    }

    // MARK: - Join tables

    private func rows(
        _ join: JoinPlan, _ feed: JoinFeed, _ range: KeyRange
    ) -> TableRebuild.Rows? {
        let relation = feed.relation
        guard feed.isArithmetic, plan.options.dangling != .nullify,
            case .join(let name, let owner, let target, let ownerOrder, let targetOrder) =
                relation.storage, let table = Table(name, source.schema),
            let ownerField = table.field(owner), let targetField = table.field(target),
            // A row with another key would be left out.
            relation.owner.targets.keys == .all, relation.target.targets.keys == .all,
            let ownerOffset = relation.owner.targets.commonOffset,
            let targetOffset = relation.target.targets.commonOffset,
            let layout = file.destination.joinTables.first(where: { $0.name == join.table }),
            // Places in lists that have to be made up.
            join.ownerOrder == nil || ownerOrder != nil,
            join.targetOrder == nil || targetOrder != nil
        else { return nil }
        var columns: [RecordProgram.Column] = []
        for column in layout.columnNames {
            let step: RecordProgram.Step?
            switch column {
            case join.ownerColumn: step = Self.key(ownerField, ownerOffset)
            case join.targetColumn: step = Self.key(targetField, targetOffset)
            case join.ownerOrder ?? "":
                step = ownerOrder.flatMap(table.field).map { .copy($0, orElse: nil) }
            case join.targetOrder ?? "":
                step = targetOrder.flatMap(table.field).map { .copy($0, orElse: nil) }
            default: step = .constant(.null)
            }
            guard let step else { return nil }
            columns.append(.init(step, .integer))
        }
        return TableRebuild.Rows(
            root: table.root, keys: range.closed, programs: .same(RecordProgram(columns)),
            offset: nil, needed: [ownerField.place, targetField.place], leavesOut: false)
    }

    private static func key(_ field: RecordProgram.Field, _ offset: Int64) -> RecordProgram.Step {
        .key(
            RecordProgram.Target(key: field.place, entity: nil, lower: nil, upper: nil),
            offset: .common(offset))
    }
}

extension KeyRange {
    fileprivate var closed: ClosedRange<Int64>? {
        let (lower, upper) = (lower ?? .min, upper ?? .max)
        return lower <= upper ? lower...upper : nil
    }
}

extension [Target] {
    /// A number of each target's place, by the number of its entity.
    fileprivate func pairs(_ number: (Target.Place) -> Int64) -> [RecordProgram.Pair] {
        compactMap { target in
            target.place.map { RecordProgram.Pair(from: target.sourceNumber, to: number($0)) }
        }
    }
}
