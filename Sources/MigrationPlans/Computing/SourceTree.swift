import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import SafeSQLite

/// Where what an expression reads of objects lies, in tables of the source.
package struct SourceTree: Hashable, Sendable, Codable {
    /// A relationship, with what is read behind it.
    package struct Branch: Hashable, Sendable, Codable {
        package let step: SourcePath.Step
        package let isToMany: Bool
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

    /// `joined`: tables on the path to the tree's objects; SQLite's parser has a bound.
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
                    step: step, isToMany: branch.isToMany, order: branch.isOrdered ? order : nil,
                    tree: try SourceTree(branch.tree, in: layout, joined: joined + 1)))
        }
        self.branches = branches
    }

    /// The object of a row with its tree, as `TreeText` reads it.
    func sql(from row: SourceRow) -> SQLText {
        let start = SourceTree.Objects(of: row)
        let texts = [object(row.name)] + branches.map { $0.sql(behind: start) }
        return "(\(texts.joined(separator: " || ")))"
    }

    /// Objects as SQL knows them: by a test of their keys.
    fileprivate struct Objects {
        let schema: SQLText
        /// What follows a column of their keys.
        let test: SQLText
        /// Their table; nil for the row itself, where `row` is its name.
        let table: String?
        let row: SQLText
        /// How many steps lead to them: rows of each have other names.
        let depth: Int

        init(of row: SourceRow) {
            self.init(
                schema: row.schema, test: "= \(row.name).Z_PK", table: nil, row: row.name, depth: 0)
        }

        private init(
            schema: SQLText, test: SQLText, table: String?, row: SQLText, depth: Int
        ) {
            self.schema = schema
            self.test = test
            self.table = table
            self.row = row
            self.depth = depth
        }

        /// The objects to which a step leads from these.
        ///
        /// Sets of keys, and no joined rows: their number is that of the links, and not that of
        /// the paths.
        func behind(_ step: SourcePath.Step) -> Objects {
            let keys: SQLText
            let target: String
            switch step {
            case .toOne(let column, let to):
                target = to
                guard let table else {
                    return Objects(
                        schema: schema, test: "= \(row).\(SQLText.quoted(column))", table: to,
                        row: row, depth: depth + 1)
                }
                keys =
                    "SELECT \(SQLText.quoted(column)) FROM \(schema)\(SQLText.quoted(table)) "
                    + "WHERE Z_PK \(test)"
            case .holders(let table, let column):
                target = table
                keys =
                    "SELECT Z_PK FROM \(schema)\(SQLText.quoted(table)) "
                    + "WHERE \(SQLText.quoted(column)) \(test)"
            case .join(let table, let own, let other, let to, let isReflexive):
                target = to
                let rows: SQLText = "\(schema)\(SQLText.quoted(table))"
                let (near, far) = (SQLText.quoted(own), SQLText.quoted(other))
                keys =
                    "SELECT \(far) FROM \(rows) WHERE \(near) \(test)"
                    + (isReflexive
                        ? " UNION SELECT \(near) FROM \(rows) WHERE \(far) \(test)" : "")
            }
            return Objects(
                schema: schema, test: "IN (\(keys))", table: target, row: row, depth: depth + 1)
        }
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
    ///
    /// `owners`: the objects that have the relationship.
    fileprivate func sql(behind owners: SourceTree.Objects) -> SQLText {
        let (schema, test) = (owners.schema, owners.test)
        let target: SQLText = "t\(owners.depth)"
        let link: SQLText = "l\(owners.depth)"
        let (owner, holder, source): (SQLText, SQLText, SQLText)
        switch step {
        case .toOne(let column, let table):
            let to: SQLText = "\(schema)\(SQLText.quoted(table)) \(target)"
            holder = target
            if let own = owners.table {
                owner = "\(link).Z_PK"
                source =
                    "\(schema)\(SQLText.quoted(own)) \(link), \(to) WHERE \(owner) \(test) "
                    + "AND \(target).Z_PK = \(link).\(SQLText.quoted(column))"
            } else {
                owner = "\(owners.row).Z_PK"
                source = "\(to) WHERE \(target).Z_PK = \(owners.row).\(SQLText.quoted(column))"
            }
        case .holders(let table, let column):
            owner = "\(target).\(SQLText.quoted(column))"
            holder = target
            source = "\(schema)\(SQLText.quoted(table)) \(target) WHERE \(owner) \(test)"
        case .join(let table, let own, let other, let to, let isReflexive):
            let rows: SQLText = "\(schema)\(SQLText.quoted(table))"
            let (near, far) = (SQLText.quoted(own), SQLText.quoted(other))
            let links: SQLText =
                isReflexive
                ? "(SELECT \(near), \(far) FROM \(rows) "
                    + "UNION SELECT \(far), \(near) FROM \(rows))" : rows
            owner = "\(link).\(near)"
            holder = link
            source =
                "\(links) \(link), \(schema)\(SQLText.quoted(to)) \(target) "
                + "WHERE \(owner) \(test) AND \(target).Z_PK = \(link).\(far)"
        }
        var texts: [SQLText] = ["'i' || \(owner) || ' '"]
        if let order { texts.append(SourceTree.cell("\(holder).\(SQLText.quoted(order))")) }
        texts.append(tree.object(target))
        let rows: SQLText =
            "(SELECT group_concat(\(texts.joined(separator: " || ")), '') FROM \(source))"
        let behind = owners.behind(step)
        return (["ifnull(\(rows), '') || ';'"] + tree.branches.map { $0.sql(behind: behind) })
            .joined(separator: " || ")
    }
}
