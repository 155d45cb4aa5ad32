import CoreDataStore
import DurableFiles
import ExpressionEvaluation
import Foundation
import GRDB
import ManagedObjectModel
import MappingExpressions
import MappingModel
import MigrationPlans
import SafeSQLite
import TestSupport
import Testing

/// What SQL computes of random expressions over random rows, against the evaluator.
@Suite("Computed values: SQL against evaluation") struct ComputedSQLTests {
    private static let columns: [(name: String, type: AttributeType)] = [
        ("text", .string), ("other", .string), ("count", .integer32), ("size", .integer64),
        ("rate", .double), ("flag", .boolean), ("day", .date),
    ]

    private static let texts = [
        "", "a", "A", "ab", "aB", "Abc", "k", "zebra", "x'y", "a\r\nb", "1", "\u{E9}", "e\u{301}",
        "\u{212A}", "stra\u{DF}e", "ab\u{301}c", "\u{1F600}a", "\u{37E}", "abcdefghI",
    ]

    private static func model() throws -> Model {
        try Model(entities: [
            Entity(
                name: "Note",
                attributes: columns.map { Attribute(name: $0.name, type: $0.type) })
        ])
    }

    private static func value(
        _ type: AttributeType, _ random: inout SeededGenerator
    ) -> DefaultValue? {
        if Int.random(in: 0..<6, using: &random) == 0 { return nil }
        let small = Int64.random(in: -5...5, using: &random)
        switch type {
        case .string: return .text(texts.randomElement(using: &random) ?? "")
        case .integer32: return .integer(small)
        case .integer64:
            return .integer([small, .max, .min, 1 << 53].randomElement(using: &random) ?? 0)
        case .double: return .real([Double(small) / 4, 1e300].randomElement(using: &random) ?? 0)
        case .boolean: return .boolean(Bool.random(using: &random))
        default: return .date(Double(small) * 1_000.25)
        }
    }

    /// Expressions of one kind of values.
    private struct Maker {
        var random: SeededGenerator

        private mutating func below(_ limit: Int) -> Int {
            Int.random(in: 0..<limit, using: &random)
        }

        private func column(_ name: String) -> MappingExpression {
            .keyPath(.variable("source"), [name])
        }

        mutating func text(_ depth: Int) -> MappingExpression {
            switch depth > 0 ? below(9) : below(3) {
            case 0: return .constant(.text(texts.randomElement(using: &random) ?? ""))
            case 1: return column("text")
            case 2: return column("other")
            case 3: return .function(.uppercase, [text(depth - 1)])
            case 4: return .function(.lowercase, [text(depth - 1)])
            case 5, 6: return .function(.append, [text(depth - 1), text(depth - 1)])
            default:
                return .conditional(predicate(depth - 1), text(depth - 1), text(depth - 1))
            }
        }

        mutating func number(_ depth: Int) -> MappingExpression {
            switch depth > 0 ? below(8) : below(4) {
            case 0: return .constant(.integer(Int64(below(9)) - 4))
            case 1: return column("count")
            case 2: return column("size")
            case 3: return column("rate")
            case 4: return .function(.length, [text(depth - 1)])
            case 5: return .function(.add, [number(depth - 1), number(depth - 1)])
            case 6: return .function(.multiply, [number(depth - 1), number(depth - 1)])
            default:
                return .conditional(predicate(depth - 1), number(depth - 1), number(depth - 1))
            }
        }

        mutating func predicate(_ depth: Int) -> MappingPredicate {
            let order: [PredicateComparison.Operator] = [
                .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
            ]
            let parts: [PredicateComparison.Operator] = [.beginsWith, .endsWith, .contains]
            let options: [PredicateComparison.Options] = [
                [], .caseInsensitive, [.caseInsensitive, .diacriticInsensitive], .normalized,
            ]
            let relation = order.randomElement(using: &random) ?? .equal
            let chosen = options.randomElement(using: &random) ?? []
            switch below(depth > 0 ? 8 : 5) {
            case 0:
                return .comparison(
                    PredicateComparison(number(depth - 1), relation, number(depth - 1)))
            case 1:
                return .comparison(
                    PredicateComparison(
                        text(depth - 1), relation, text(depth - 1), options: chosen))
            case 2:
                return .comparison(
                    PredicateComparison(
                        text(depth - 1), parts.randomElement(using: &random) ?? .contains,
                        text(depth - 1), options: chosen))
            case 3:
                return .comparison(
                    PredicateComparison(
                        text(depth - 1), .contained, .list([text(0), text(0), text(0)]),
                        options: chosen))
            case 4: return .comparison(PredicateComparison(text(depth - 1), relation, .null))
            case 5: return .not(predicate(depth - 1))
            case 6: return .and([predicate(depth - 1), predicate(depth - 1)])
            default: return .or([predicate(depth - 1), predicate(depth - 1)])
            }
        }
    }

    @Test func bothGiveTheSame() throws {
        try withTemporaryFolder { folder in
            var maker = Maker(random: SeededGenerator(seed: 21))
            let layout = try StoreLayout(model: try Self.model(), framework: .newestVerified)
            let path = FilePath(folder.path).appending("rows.sqlite")
            let rows = (0..<60).map { _ in
                Self.columns.map { Self.value($0.type, &maker.random) }
            }
            try Self.write(rows, layout, to: path)
            let connection = try Connection(path: path, mode: .immutable)
            let evaluator = ExpressionEvaluator(NoObjects(), now: 0)
            var (cases, failures, bySQL) = (0, 0, 0)
            for _ in 0..<500 {
                let isText = Bool.random(using: &maker.random)
                let expression = isText ? maker.text(3) : maker.number(3)
                let cell = try Self.cell(expression, isText: isText, layout)
                try ValueFunction.register(
                    connection, source: .main, cells: [cell], failures: ValueFailures())
                let sql = ComputedSQL(cells: [cell]).expression(
                    cell, of: SourceRow("s", schema: ""))
                if !sql.description.hasPrefix("\"godwit_value") { bySQL += 1 }
                for (number, values) in rows.enumerated() {
                    let wanted = Self.evaluated(cell, values, evaluator)
                    let found = try Self.computed(cell, row: number + 1, connection)
                    cases += 1
                    if wanted == nil { failures += 1 }
                    #expect(found == wanted, "\(expression.text) of \(values)")
                }
            }
            #expect(cases >= 20_000 && failures < cases / 4 && bySQL > 200)
        }
    }

    private static func cell(
        _ expression: MappingExpression, isText: Bool, _ layout: StoreLayout
    ) throws -> ComputedCell {
        try ComputedCell(
            value: ComputedValue(expression, of: "Note", in: layout.model), source: "Note",
            in: layout, type: isText ? .string : .double, name: "n", now: 0)
    }

    /// What SQL gives for a row; nil for an error, nil within for NULL.
    private static func computed(
        _ cell: ComputedCell, row: Int, _ connection: Connection
    ) throws -> StoredCell?? {
        let sql = ComputedSQL(cells: [cell]).expression(cell, of: SourceRow("s", schema: ""))
        let query = try connection.prepare("SELECT \(sql) FROM ZNOTE s WHERE Z_PK = ?1")
        try query.bind(Int64(row), at: 1)
        do throws(StoreError) {
            return try query.step() ? .some(query.cell(0)) : nil
        } catch {
            return nil
        }
    }

    /// What the evaluator gives; nil for an error, nil within for NULL.
    private static func evaluated(
        _ cell: ComputedCell, _ row: [DefaultValue?], _ evaluator: ExpressionEvaluator<NoObjects>
    ) -> StoredCell?? {
        var variables: [String: ExpressionValue<Never>] = [:]
        for (number, keys) in cell.value.inputs.enumerated() {
            let column = columns.firstIndex { $0.name == keys[0] } ?? 0
            variables[ComputedValue.name(of: number)] = row[column].map { .scalar($0) } ?? .null
        }
        do throws(ExpressionError) {
            switch try evaluator.value(of: cell.value.expression, variables: variables) {
            case .scalar(let scalar): return .some(try StoredCell(scalar, as: cell.type))
            default: return .some(nil)
            }
        } catch {
            return nil
        }
    }

    private static func write(
        _ rows: [[DefaultValue?]], _ layout: StoreLayout, to path: FilePath
    ) throws {
        let connection = try Connection(path: path, mode: .create)
        let table = try #require(layout.table(of: "Note"))
        try connection.create(table.definition)
        try connection.create(
            SchemaDefinition(.table, "Z_METADATA", sql: "CREATE TABLE Z_METADATA (Z_UUID VARCHAR)"))
        for (number, row) in rows.enumerated() {
            var (names, values): ([SQLText], [SQLText]) = (["Z_PK"], ["\(Int64(number + 1))"])
            for (column, value) in zip(columns, row) {
                let found = layout.column(.attribute(PropertyKey("Note", column.name)))
                names.append(SQLText.quoted(try #require(found).column.name))
                values.append(value.flatMap { SQLText.literal($0) } ?? "NULL")
            }
            try connection.execute(
                "INSERT INTO ZNOTE (\(names.joined(separator: ", "))) "
                    + "VALUES (\(values.joined(separator: ", ")))")
        }
        try connection.close()
    }

    private static func text(_ text: String) -> MappingExpression { .constant(.text(text)) }

    private static func chain(
        _ depth: Int, _ step: (MappingExpression) -> MappingExpression
    ) -> MappingExpression {
        (0..<depth).reduce(.keyPath(.variable("source"), ["text"])) { inner, _ in step(inner) }
    }

    /// Expressions as deep and as long as mapping files may have them.
    private static let large: [(name: String, expression: MappingExpression)] = [
        ("upper", chain(60) { .function(.uppercase, [$0]) }),
        (
            "endings",
            chain(25) {
                .conditional(
                    .comparison(PredicateComparison($0, .endsWith, text("a"))), text("a"),
                    text("b"))
            }
        ),
        (
            "members",
            chain(12) {
                .conditional(
                    .comparison(
                        PredicateComparison(
                            $0, .contained, .list((0..<10).map { text("m\($0)") }))),
                    text("a"), text("b"))
            }
        ),
        (
            "predicates",
            .conditional(
                (0..<25).reduce(
                    MappingPredicate.comparison(
                        PredicateComparison(
                            .keyPath(.variable("source"), ["text"]), .equal, text("m7")))
                ) { inner, number in
                    let other = MappingPredicate.comparison(
                        PredicateComparison(
                            .keyPath(.variable("source"), ["text"]), .equal, text("m\(number)")))
                    return number.isMultiple(of: 2)
                        ? .and([.not(other), inner]) : .or([other, inner])
                }, text("a"), text("b"))
        ),
        (
            "list",
            .conditional(
                .comparison(
                    PredicateComparison(
                        .keyPath(.variable("source"), ["text"]), .contained,
                        .list((0..<2_000).map { text("m\($0)") }))), text("a"), text("b"))
        ),
        (
            "table",
            (0..<48).reduce(text("other")) { rest, number in
                .conditional(
                    .comparison(
                        PredicateComparison(
                            .keyPath(.variable("source"), ["text"]), .equal, text("m\(number)"))),
                    text("\(number)"), rest)
            }
        ),
    ]

    @Test("what SQLite's parser does not take is left to Swift", arguments: large.map(\.name))
    func largeExpressions(name: String) throws {
        let expression = try #require(Self.large.first { $0.name == name }).expression
        try withTemporaryFolder { folder in
            let layout = try StoreLayout(model: try Self.model(), framework: .newestVerified)
            let path = FilePath(folder.path).appending("rows.sqlite")
            let rows = ["m7", "zA", "\u{E9}a", nil].map { text in
                [text.map { DefaultValue.text($0) }] + [DefaultValue?](repeating: nil, count: 6)
            }
            try Self.write(rows, layout, to: path)
            let connection = try Connection(path: path, mode: .immutable)
            let cell = try Self.cell(expression, isText: true, layout)
            try ValueFunction.register(
                connection, source: .main, cells: [cell], failures: ValueFailures())
            let evaluator = ExpressionEvaluator(NoObjects(), now: 0)
            for (number, row) in rows.enumerated() {
                let wanted = Self.evaluated(cell, row, evaluator)
                #expect(wanted != nil)
                #expect(try Self.computed(cell, row: number + 1, connection) == wanted)
            }
        }
    }

    @Test("an integer that is too large on the way is an error, also beside no value")
    func hiddenOverflow() throws {
        let (size, count) = (
            MappingExpression.keyPath(.variable("source"), ["size"]),
            MappingExpression.keyPath(.variable("source"), ["count"])
        )
        let product = MappingExpression.function(
            .multiply, [count, .function(.multiply, [size, size])])
        try withTemporaryFolder { folder in
            let layout = try StoreLayout(model: try Self.model(), framework: .newestVerified)
            let path = FilePath(folder.path).appending("rows.sqlite")
            var row = [DefaultValue?](repeating: nil, count: 7)
            row[3] = .integer(.max)
            try Self.write([row], layout, to: path)
            let connection = try Connection(path: path, mode: .immutable)
            let cell = try Self.cell(product, isText: false, layout)
            try ValueFunction.register(
                connection, source: .main, cells: [cell], failures: ValueFailures())
            #expect(try Self.computed(cell, row: 1, connection) == nil)
        }
    }

    /// Texts and blobs that no text of Swift is.
    @Test(
        "ill-formed texts, blobs and another collation give what the evaluator gives",
        arguments: [
            "CAST(x'61FF62' AS TEXT)", "CAST(x'FE' AS TEXT)", "CAST(x'80' AS TEXT)",
            "CAST(x'C0' AS TEXT)", "x'4162'", "12", "CAST(x'61004162' AS TEXT)", "'a'", "'A'",
        ])
    func oddTexts(literal: String) throws {
        let path = MappingExpression.keyPath(.variable("source"), ["text"])
        let equal = MappingExpression.conditional(
            .comparison(PredicateComparison(path, .equal, Self.text("A"))), Self.text("y"),
            Self.text("n"))
        try withTemporaryFolder { folder in
            let layout = try StoreLayout(model: try Self.model(), framework: .newestVerified)
            let file = FilePath(folder.path).appending("rows.sqlite")
            try Self.write([[DefaultValue?](repeating: nil, count: 7)], layout, to: file)
            let queue = try DatabaseQueue(path: file.description)
            let stored = try queue.write { database in
                try database.execute(
                    sql: """
                        PRAGMA writable_schema = ON;
                        UPDATE sqlite_master SET sql =
                          replace(sql, 'ZTEXT VARCHAR', 'ZTEXT VARCHAR COLLATE NOCASE');
                        UPDATE ZNOTE SET ZTEXT = \(literal)
                        """)
                let bytes = try Data.fetchOne(
                    database, sql: "SELECT CAST(ZTEXT AS BLOB) FROM ZNOTE")
                let kind = try String.fetchOne(database, sql: "SELECT typeof(ZTEXT) FROM ZNOTE")
                let found = Array(bytes ?? Data())
                return kind == "blob"
                    ? DefaultValue.data(found) : .text(String(decoding: found, as: UTF8.self))
            }
            try queue.close()
            let row = [stored] + [DefaultValue?](repeating: nil, count: 6)
            let evaluator = ExpressionEvaluator(NoObjects(), now: 0)
            for (expression, isText) in [
                (.function(.uppercase, [path]), true), (equal, true),
                (.function(.append, [path, Self.text("x")]), true),
                (.function(.append, [Self.text("x"), path]), true),
                (MappingExpression.function(.length, [path]), false),
            ] {
                let cell = try Self.cell(expression, isText: isText, layout)
                let connection = try Connection(path: file, mode: .immutable)
                try ValueFunction.register(
                    connection, source: .main, cells: [cell], failures: ValueFailures())
                let wanted = Self.evaluated(cell, row, evaluator)
                let found = try Self.computed(cell, row: 1, connection)
                #expect(found == wanted, "\(expression.text) of \(literal)")
            }
        }
    }
}
