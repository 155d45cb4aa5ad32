import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import MappingModel
import StoreFileChecks

/// What one destination cell must hold, in terms of the source row.
struct CellRule: Sendable {
    enum Origin: UInt8, Sendable {
        /// The value of a source column.
        case column
        /// The value of a source column, or the constant for NULL.
        case columnOrConstant
        case constant
        /// Inline storage begins: a prefix byte before the value.
        case addedPrefix
        /// External storage ends: no prefix byte, a file's content for a reference.
        case removedPrefix
        /// What an expression gives.
        case computed
        /// What a policy gives, which its record tells alone.
        case policy
    }

    let origin: Origin
    /// The column's place in the row; for a computed value that of its rule among all of them.
    let column: Int
    /// The constant's place among the constants.
    let constant: Int
    let affinity: Affinity
    /// Whether texts of the source may become numbers.
    let parsesText: Bool
    let seed: HashSeed
    /// Whether a missing value is a fault that the source has already.
    let isFaultIfNull: Bool
}

/// The rules of all attributes of one entity mapping, in the order of the destination's columns.
package struct EntityRules {
    let fate: Fate
    let cells: [CellRule]
    /// What the sums of the cells are called, apart from the rules, which loops copy.
    let labels: [String]
    /// What is lost of replaced values, by the places of the cells.
    let replacements: [(cell: Int, subject: Loss.Subject)]

    /// The leading column of every row's rules and their names in sums.
    package static let leading = ["Z_ENT", "Z_OPT"]

    /// Makes the rules; the list gets the columns that are read, the constants the defaults.
    init(
        _ mapped: EntityMapping, _ fate: Fate, scope: ValidationScope, list: inout SelectList,
        constants: inout [StoredConstant], computed: inout ComputedRules
    ) {
        self.fate = fate
        var cells: [CellRule] = []
        var replacements: [(cell: Int, subject: Loss.Subject)] = []
        constants.append(
            StoredConstant(integer: fate.number, .numeric))
        cells.append(
            CellRule(
                origin: .constant, column: 0, constant: constants.count - 1, affinity: .numeric,
                parsesText: false, seed: HashSeed("\(fate.table).Z_ENT"), isFaultIfNull: false))
        cells.append(
            CellRule(
                origin: .column, column: list.place(of: "Z_OPT"), constant: 0,
                affinity: .numeric, parsesText: false, seed: HashSeed("\(fate.table).Z_OPT"),
                isFaultIfNull: false))
        var labels = EntityRules.leading.map { "\(fate.entity).\($0)" }
        for column in scope.destination.table(named: fate.table)?.columns ?? [] {
            guard case .attribute(let key) = column.role,
                scope.destination.uses(column, by: fate.entity)
            else { continue }
            let value = mapped.attributes.first { $0.destination == key.property }?.value ?? .null
            if case .expression(let expression) = value {
                if scope.mayReplace(expression, from: mapped.source, in: key) {
                    replacements.append((cells.count, Loss.Subject(.conversion, key)))
                }
                let place = computed.add(
                    expression, for: column, key: key, from: mapped.source ?? "", scope: scope,
                    list: &list)
                cells.append(
                    CellRule(
                        origin: .computed, column: place, constant: 0, affinity: .blob,
                        parsesText: false, seed: HashSeed("\(fate.table).\(column.name)"),
                        isFaultIfNull: false))
                labels.append("\(fate.entity).\(key.property)")
                continue
            }
            cells.append(
                EntityRules.rule(
                    value, for: column, key: key, from: mapped.source ?? "", fate: fate,
                    scope: scope, list: &list, constants: &constants))
            labels.append("\(fate.entity).\(key.property)")
        }
        self.cells = cells
        self.labels = labels
        self.replacements = replacements
    }

    private static func rule(
        _ value: ValueExpression, for column: ColumnLayout, key: PropertyKey, from entity: String,
        fate: Fate, scope: ValidationScope, list: inout SelectList,
        constants: inout [StoredConstant]
    ) -> CellRule {
        var origin = CellRule.Origin.constant
        var constant = StoredConstant.null
        var from: ColumnLayout?
        var isFault = false
        let find = { (name: String) in EntityRules.column(name, of: entity, in: scope.source) }
        switch value {
        case .expression, .null: break
        case .policy: origin = .policy
        case .constant(let value): constant = StoredConstant(value, in: column)
        case .source(let name):
            from = find(name)
            if let from {
                origin = EntityRules.origin(from, column)
                isFault =
                    EntityRules.isRequired(from, in: scope.source)
                    && EntityRules.isRequired(column, in: scope.destination)
            }
        case .sourceOrDefault(let name, let value):
            from = find(name)
            constant = StoredConstant(value, in: column)
            if from != nil { origin = .columnOrConstant }
        }
        constants.append(constant)
        let affinity = Affinity(column.type)
        let isNumeric = affinity == .numeric || affinity == .real
        let wasNumeric = from.map { Affinity($0.type) == .numeric || Affinity($0.type) == .real }
        return CellRule(
            origin: origin, column: from.map { list.place(of: $0.name) } ?? 0,
            constant: constants.count - 1, affinity: affinity,
            parsesText: isNumeric && wasNumeric == false,
            seed: HashSeed("\(fate.table).\(column.name)"), isFaultIfNull: isFault)
    }

    private static func origin(_ from: ColumnLayout, _ column: ColumnLayout) -> CellRule.Origin {
        switch (from.isExternal, column.isExternal) {
        case (false, true): .addedPrefix
        case (true, false): .removedPrefix
        default: .column
        }
    }

    private static func column(
        _ name: String, of entity: String, in layout: StoreLayout
    ) -> ColumnLayout? {
        layout.column(ofAttribute: name, of: entity)?.column
    }

    /// Whether a column's attribute must have a value.
    static func isRequired(_ column: ColumnLayout, in layout: StoreLayout) -> Bool {
        guard case .attribute(let key) = column.role else { return false }
        return layout.attribute(key)?.isOptional == false
    }
}
