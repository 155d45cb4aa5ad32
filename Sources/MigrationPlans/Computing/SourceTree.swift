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

    /// `joined`: tables on the path to the tree's objects; SQLite joins at most 64.
    private init(
        _ tree: ObjectTree, in layout: StoreLayout, joined: Int
    ) throws(PlanError) {
        guard joined <= 60 else {
            throw .unsupported("an expression reads through more relationships than SQLite joins")
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
                    tree: try SourceTree(branch.tree, in: layout, joined: joined + 2)))
        }
        self.branches = branches
    }

    /// The object of a row with its tree, as `TreeText` reads it.
    func sql(from row: SourceRow) -> SQLText {
        let texts = [object(row.name)] + branches.map { $0.sql(from: row, behind: []) }
        return "(\(texts.joined(separator: " || ")))"
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
    /// `steps`: from the row to the objects that have the relationship.
    fileprivate func sql(from row: SourceRow, behind steps: [SourcePath.Step]) -> SQLText {
        let path = SourcePath(steps: steps + [step], column: "Z_PK", type: .objectID)
        let owner = steps.isEmpty ? row.name : row.target(steps.count - 1)
        let rows = path.sql(from: row) { object in
            var texts: [SQLText] = ["'i' || \(owner).Z_PK || ' '"]
            if let order {
                var holder = object.name
                if case .join = step { holder = row.join(steps.count) }
                texts.append(SourceTree.cell("\(holder).\(SQLText.quoted(order))"))
            }
            texts.append(tree.object(object.name))
            return "group_concat(\(texts.joined(separator: " || ")), '')"
        }
        let behind = tree.branches.map { $0.sql(from: row, behind: path.steps) }
        return (["ifnull(\(rows), '') || ';'"] + behind).joined(separator: " || ")
    }
}
