import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import SafeSQLite

/// Where what an expression reads of objects lies, in tables of the source.
package struct SourceTree: Hashable, Sendable, Codable {
    /// A relationship, with what is read behind it.
    package struct Branch: Hashable, Sendable, Codable {
        package let step: SourcePath.Step
        /// The column of an object's place in the list: of its own row, or of the join table.
        ///
        /// Nil for a set.
        package let order: String?
        package let tree: SourceTree
    }

    /// The columns of the tree's fields.
    package let columns: [String]
    package let branches: [Branch]

    /// Finds the tables and columns of a tree.
    ///
    /// - Throws: `PlanError.unsupported` for a property without a column of its own.
    init(_ tree: ObjectTree, in layout: StoreLayout) throws(PlanError) {
        try self.init(tree, in: layout, joined: 1)
    }

    /// `joined`: tables on the path to the tree's objects; each multiplies what is read for a row.
    private init(
        _ tree: ObjectTree, in layout: StoreLayout, joined: Int
    ) throws(PlanError) {
        guard joined <= 12 else {
            throw .unsupported("an expression reads through more than 11 relationships in a row")
        }
        var columns: [String] = []
        for field in tree.fields {
            columns.append(
                try SourcePath.attribute(
                    field.name, of: tree.entity, in: layout, "\(tree.entity).\(field.name)"
                ).column)
        }
        self.columns = columns
        var branches: [Branch] = []
        for branch in tree.branches {
            guard let found = layout.model.relationship(branch.name, of: tree.entity),
                !found.relationship.isTransient
            else {
                throw .unsupported("\(tree.entity).\(branch.name) is in no column and no table")
            }
            let key = PropertyKey(found.owner.name, branch.name)
            let step = SourcePath.step(key, found.relationship, layout)
            let order = layout.storage(of: key).targetOrder
            if branch.isOrdered, order == nil {
                throw .unsupported("the order of \(tree.entity).\(branch.name) cannot be read")
            }
            branches.append(
                Branch(
                    step: step, order: branch.isOrdered ? order : nil,
                    tree: try SourceTree(branch.tree, in: layout, joined: joined + 1)))
        }
        self.branches = branches
    }

    /// The object of a row with its tree, as `TreeText` reads it.
    func sql(from row: SourceRow) -> SQLText {
        let texts = [object(row.name)] + branches.map { $0.sql(from: row, behind: nil) }
        return "(\(texts.joined(separator: " || ")))"
    }

    /// How SQL finds links that begin at objects: a table for each step from the row.
    ///
    /// Each is made once for a row, from the keys of the one before: their number is that of the
    /// links, not that of the paths, and nothing is nested.
    fileprivate struct Links {
        /// The tables of all steps so far.
        let tables: [SQLText]
        /// The table in which the objects of the last step are.
        let target: String

        /// The links of a step; `before` is nil for one that begins at the row itself.
        init(
            _ step: SourcePath.Step, order: String?, from row: SourceRow, behind before: Links?
        ) {
            let number = (before?.tables.count ?? 0) / 2 + 1
            let keys: SQLText = "godwit_k\(number - 1)"
            let start: SQLText = before == nil ? "\(row.name).Z_PK" : "\(keys).k"
            let from: SQLText = before == nil ? "" : "\(keys) CROSS JOIN "
            var (target, rows): (String, SQLText) = ("", "")
            let place: SQLText = order.map { "j.\(SQLText.quoted($0))" } ?? "NULL"
            switch step {
            case .toOne(let column, let to):
                target = to
                let name = SQLText.quoted(column)
                if let table = before?.target {
                    rows =
                        "SELECT j.Z_PK, j.\(name), \(place) FROM \(from)\(row.schema)"
                        + "\(SQLText.quoted(table)) j WHERE j.Z_PK = \(start)"
                } else {
                    rows = "SELECT \(start), \(row.name).\(name), NULL"
                }
            case .holders(let table, let column):
                target = table
                rows =
                    "SELECT \(start), j.Z_PK, \(place) FROM \(from)\(row.schema)"
                    + "\(SQLText.quoted(table)) j WHERE j.\(SQLText.quoted(column)) = \(start)"
            case .join(let table, let own, let other, let to, let isReflexive):
                target = to
                let (near, far): (SQLText, SQLText) = (
                    "j.\(SQLText.quoted(own))", "j.\(SQLText.quoted(other))"
                )
                let end: SQLText =
                    isReflexive ? "CASE \(near) WHEN \(start) THEN \(far) ELSE \(near) END" : far
                rows =
                    "SELECT \(start), \(end), \(place) FROM \(from)\(row.schema)"
                    + "\(SQLText.quoted(table)) j WHERE \(near) = \(start)"
                    + (isReflexive ? " OR \(far) = \(start)" : "")
            }
            self.target = target
            tables =
                (before?.tables ?? []) + [
                    "godwit_l\(number)(o, t, p) AS MATERIALIZED (\(rows))",
                    "godwit_k\(number)(k) AS MATERIALIZED (SELECT DISTINCT t FROM "
                        + "godwit_l\(number))",
                ]
        }

        /// The name of the last table of links.
        var last: SQLText { "godwit_l\(tables.count / 2)" }
    }

    /// The key and the fields of a row.
    fileprivate func object(_ row: SQLText) -> SQLText {
        let cells = columns.map { Self.cell("\(row).\(SQLText.quoted($0))") }
        return (["'i' || \(row).Z_PK || ' '"] + cells).joined(separator: " || ")
    }

    /// A cell: a letter, its content, a blank.
    static func cell(_ value: SQLText) -> SQLText {
        "CASE typeof(\(value)) WHEN 'null' THEN 'n ' WHEN 'integer' THEN 'i' || \(value) || ' ' "
            + "WHEN 'real' THEN 'r' || quote(\(value)) || ' ' "
            + "WHEN 'text' THEN 't' || hex(\(value)) || ' ' ELSE 'b' || hex(\(value)) || ' ' END"
    }
}

extension SourceTree.Branch {
    /// The objects of the branch, then those of the branches behind it.
    fileprivate func sql(from row: SourceRow, behind before: SourceTree.Links?) -> SQLText {
        let links = SourceTree.Links(step, order: order, from: row, behind: before)
        var texts: [SQLText] = ["'i' || CAST(l.o AS INTEGER) || ' '"]
        if order != nil { texts.append(SourceTree.cell("l.p")) }
        texts.append(tree.object("t"))
        // The last keys are those of the branches behind this one.
        let rows: SQLText =
            "(WITH \(links.tables.dropLast().joined(separator: ", ")) "
            + "SELECT group_concat(\(texts.joined(separator: " || ")), '') "
            + "FROM \(links.last) l CROSS JOIN \(row.schema)\(SQLText.quoted(links.target)) t "
            + "WHERE t.Z_PK = l.t)"
        return
            (["ifnull(\(rows), '') || ';'"]
            + tree.branches.map { $0.sql(from: row, behind: links) }).joined(separator: " || ")
    }
}
