package import CoreDataStore
package import ManagedObjectModel
package import SafeSQLite

/// Where the value of a key path of a source object lies, in tables of the source.
package struct SourcePath: Hashable, Sendable, Codable {
    /// From one row to others.
    package enum Step: Hashable, Sendable, Codable {
        /// To the row of a table whose key stands in a column.
        case toOne(column: String, table: String)
        /// To the rows of a table that hold the own key in a column.
        case holders(table: String, column: String)
        /// Through a join table: to rows of a table. Rows of a relationship that is its own inverse
        /// lead both ways.
        case join(
            table: String, own: String, other: String, target: String, isReflexive: Bool)
    }

    /// What becomes of the values of several rows.
    package enum Reduction: String, Hashable, Sendable, Codable, CaseIterable {
        case count = "@count"
        case sum = "@sum"
        case minimum = "@min"
        case maximum = "@max"
        case average = "@avg"
    }

    package var steps: [Step]
    /// The column of the last row: of an attribute, or `Z_PK` for the object itself.
    package var column: String
    /// The type of the values in the column; `objectID` for objects.
    package var type: AttributeType
    /// Nil where every step leads to one row.
    package var reduction: Reduction?

    package init(steps: [Step], column: String, type: AttributeType, reduction: Reduction? = nil) {
        self.steps = steps
        self.column = column
        self.type = type
        self.reduction = reduction
    }

    /// Whether the value is a sum of integers, which may be infinite.
    var sumsIntegers: Bool { reduction == .sum && type.isWhole }

    /// The type of what is read: a count is a number whatever is counted.
    package var valueType: AttributeType {
        switch reduction {
        case .count: .integer64
        case .average: .double
        case .sum where type == .boolean: .integer64
        case nil, .sum, .minimum, .maximum: type
        }
    }
}

extension SourcePath {
    /// Finds where a key path leads.
    ///
    /// - Parameters:
    ///   - keys: behind `$source`; names that the model has.
    ///   - entity: of the source object.
    ///   - layout: of the source.
    /// - Throws: `PlanError.unsupported` for a path that no value of a row can be read by.
    package init(_ keys: [String], of entity: String, in layout: StoreLayout) throws(PlanError) {
        let text = "$source." + keys.joined(separator: ".")
        var steps: [Step] = []
        var current = entity
        var reduction: Reduction?
        var isToMany = false
        var leaf: (column: String, type: AttributeType)?
        var rest = keys[...]
        while let key = rest.popFirst() {
            if key.hasPrefix("@") {
                guard reduction == nil, isToMany, let known = Reduction(rawValue: key) else {
                    throw .unsupported("\(key) in \(text) is not supported yet")
                }
                // Sets of what several objects lead to have no equal members twice; joins do.
                guard steps.count == 1 else {
                    throw .unsupported(
                        "\(key) in \(text) is not supported yet: only relationships of the source "
                            + "object itself can be counted and summed")
                }
                reduction = known
            } else if reduction == nil, let found = layout.model.relationship(key, of: current) {
                let step = Self.step(PropertyKey(found.owner.name, key), found.relationship, layout)
                isToMany = isToMany || found.relationship.isToMany
                steps.append(step)
                current = found.relationship.destination
            } else {
                let name = ([key] + rest).joined(separator: ".")
                rest = []
                leaf = try Self.attribute(name, of: current, in: layout, text)
            }
        }
        guard isToMany == (reduction != nil) else {
            throw .unsupported(
                "\(text) leads to several objects: @count, @sum, @min, @max and @avg make one "
                    + "value of them; a collection itself is not supported yet")
        }
        guard leaf != nil || reduction == nil || reduction == .count else {
            throw .unsupported("\(text) names no attribute after \(reduction?.rawValue ?? "")")
        }
        self.init(
            steps: steps, column: leaf?.column ?? "Z_PK", type: leaf?.type ?? .objectID,
            reduction: reduction)
    }

    static func step(
        _ key: PropertyKey, _ relationship: Relationship, _ layout: StoreLayout
    ) -> Step {
        let target = layout.table(of: relationship.destination)?.name ?? ""
        switch layout.storage(of: key) {
        case .ownerColumn(_, let column, _, _): return .toOne(column: column, table: target)
        case .targetColumn(let table, let column, _, _):
            return .holders(table: table, column: column)
        case .join(let table, let owner, let other, _, _):
            return .join(
                table: table, own: owner, other: other, target: target,
                isReflexive: layout.joinTable(of: key)?.isReflexive == true)
        // No relationship of a layout is stored as a path.
        case .path(_, let path, _):
            return path.steps.first ?? .toOne(column: path.column, table: target)
        }
    }

    static func attribute(
        _ name: String, of entity: String, in layout: StoreLayout, _ text: String
    ) throws(PlanError) -> (column: String, type: AttributeType) {
        guard let column = layout.column(ofAttribute: name, of: entity)?.column,
            let type = layout.model.element(name, of: entity)?.type
        else { throw .unsupported("\(text) has no column") }
        guard !column.isExternal else {
            throw .unsupported("\(text) can use external storage: it can only be copied")
        }
        return (column.name, type)
    }
}

extension SourcePath {
    /// Finds the object behind a path of to-one relationships.
    ///
    /// Nil where the path is none.
    package init?(toOne keys: [String], of entity: String, in layout: StoreLayout) {
        var steps: [Step] = []
        var current = entity
        for key in keys {
            guard let found = layout.model.relationship(key, of: current),
                !found.relationship.isToMany
            else { return nil }
            steps.append(
                Self.step(PropertyKey(found.owner.name, key), found.relationship, layout))
            current = found.relationship.destination
        }
        self.init(steps: steps, column: "Z_PK", type: .objectID, reduction: nil)
    }

    /// The same path to another column of its last row.
    package func reading(_ column: String) -> SourcePath {
        var path = self
        path.column = column
        return path
    }
}

extension SourcePath {
    /// The path as one scalar expression over a row of the source.
    package func sql(from start: SourceRow) -> SQLText {
        sql(from: start) { row in
            let last: SQLText = "\(row.name).\(SQLText.quoted(column))"
            return switch reduction {
            case nil: last
            case .count: "count(*)"
            case .sum where type.isWhole: .sum(ofIntegers: last)
            case .sum: "ifnull(sum(\(last)), 0)"
            case .minimum: "min(\(last))"
            case .maximum: "max(\(last))"
            // Members without a value count as 0.
            case .average: "total(\(last)) / count(*)"
            }
        }
    }

    /// What lies behind the path as one scalar expression over a row of the source.
    ///
    /// - Parameters:
    ///   - start: where the path begins.
    ///   - value: gets the row at its end.
    /// - Returns: an expression that is NULL where the path leads nowhere.
    package func sql(from start: SourceRow, value: (SourceRow) -> SQLText) -> SQLText {
        guard !steps.isEmpty else { return value(start) }
        var tables: [SQLText] = []
        var conditions: [SQLText] = []
        var row = start.name
        for (number, step) in steps.enumerated() {
            let next: SQLText = "p\(start.depth)_\(number)"
            switch step {
            case .toOne(let column, let table):
                tables.append("\(start.schema)\(SQLText.quoted(table)) \(next)")
                conditions.append("\(next).Z_PK = \(row).\(SQLText.quoted(column))")
            case .holders(let table, let column):
                tables.append("\(start.schema)\(SQLText.quoted(table)) \(next)")
                conditions.append("\(next).\(SQLText.quoted(column)) = \(row).Z_PK")
            case .join(let table, let own, let other, let target, let isReflexive):
                let join: SQLText = "j\(start.depth)_\(number)"
                let rows: SQLText = "\(start.schema)\(SQLText.quoted(table))"
                let (near, far) = (SQLText.quoted(own), SQLText.quoted(other))
                tables.append(
                    isReflexive
                        ? "(SELECT \(near), \(far) FROM \(rows) "
                            + "UNION SELECT \(far), \(near) FROM \(rows)) \(join)"
                        : "\(rows) \(join)")
                tables.append("\(start.schema)\(SQLText.quoted(target)) \(next)")
                conditions.append("\(join).\(SQLText.quoted(own)) = \(row).Z_PK")
                conditions.append("\(next).Z_PK = \(join).\(SQLText.quoted(other))")
            }
            row = next
        }
        return "(SELECT \(value(SourceRow(row, schema: start.schema, depth: start.depth + 1))) "
            + "FROM \(tables.joined(separator: ", ")) "
            + "WHERE \(conditions.joined(separator: " AND ")))"
    }
}
