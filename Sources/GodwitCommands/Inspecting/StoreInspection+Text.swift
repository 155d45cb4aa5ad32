import RunReports
import SafeSQLite

extension StoreInspection {
    /// The report for a terminal: one paragraph for each kind of thing.
    var text: String {
        let paragraphs =
            [fileLines, entityLines, tableLines, joinLines, externalLines]
            + [extraLines, list("not supported", unsupported), list("unusual", oddities)]
        return paragraphs.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }
            .joined(separator: "\n\n")
    }

    private var fileLines: [String] {
        var size = "\(ByteSize(bytes: file.bytes).words), \(counted(file.pages, "page"))"
        size += " of \(file.pageSize) bytes"
        if file.freePages > 0 { size += ", \(grouped(file.freePages)) free" }
        let identifiers = model.versionIdentifiers.filter { !$0.isEmpty }
        let origin = model.isCached ? "held by the store" : "given"
        let named =
            identifiers.isEmpty ? origin : "\(identifiers.joined(separator: ", ")), \(origin)"
        var lines = [
            "store      \(store)", "size       \(size)", "journal    \(journal)",
            "model      \(named)", "framework  \(model.framework)", "digest     \(model.digest)",
            "history    \(historyWords)",
        ]
        if model.applicationKeys > 0 {
            lines.append("metadata   \(counted(model.applicationKeys, "key")) of the app's own")
        }
        if let state = model.importState {
            lines.append("import     \(state.rawValue)")
        }
        lines.append("checked    " + (file.isChecked ? "every page" : "no (--no-check)"))
        return lines
    }

    private var journal: String {
        var words = file.isWriteAheadLogged ? "write-ahead log" : "rollback journal"
        if let bytes = file.writeAheadLogBytes {
            words += ", -wal of \(ByteSize(bytes: bytes).words)"
        }
        if let bytes = file.rollbackJournalBytes {
            words += ", -journal of \(ByteSize(bytes: bytes).words)"
        }
        if file.isSnapshot { words += ", applied to a copy for this report" }
        return words
    }

    private var historyWords: String {
        guard let history else { return "none" }
        return "\(counted(history.transactions, "transaction")), "
            + counted(history.changes, "change")
    }

    private var entityLines: [String] {
        var table = TextTable([
            ("number", .right), ("entity", .left), ("rows", .right), ("table", .left),
        ])
        for entity in entities {
            var name = entity.name
            if let parent = entity.parent { name += " : \(parent)" }
            if entity.isAbstract { name += " (abstract)" }
            table.add(["\(entity.number)", name, grouped(entity.rows), entity.table])
        }
        return table.lines
    }

    private var tableLines: [String] {
        var table = TextTable([
            ("table", .left), ("rows", .right), ("about", .right), ("Z_MAX", .right),
        ])
        for one in tables {
            let bytes = one.bytes == 0 ? "0 B" : ByteSize(bytes: one.bytes).words
            table.add([one.name, grouped(one.rows), bytes, grouped(one.maximum)])
        }
        return table.lines
    }

    private var joinLines: [String] {
        guard !joinTables.isEmpty else { return [] }
        var table = TextTable([
            ("join table", .left), ("rows", .right), ("relationship", .left), ("inverse", .left),
        ])
        for join in joinTables {
            table.add([join.name, grouped(join.rows), join.relationship, join.inverse])
        }
        return table.lines
    }

    private var externalLines: [String] {
        guard !externalData.isEmpty else { return [] }
        var table = TextTable([
            ("external data", .left), ("values", .right), ("files", .right), ("missing", .right),
            ("malformed", .right),
        ])
        for one in externalData {
            table.add(
                [one.attribute]
                    + [one.values, one.references, one.missing, one.malformed].map { grouped($0) })
        }
        return table.lines
    }

    private var extraLines: [String] {
        list(
            "outside the model",
            extras.map { extra in
                let place = extra.table == extra.name ? "" : " on \(extra.table)"
                let remark = extra.remark.map { ": \($0)" } ?? ""
                return "\(extra.kind.rawValue) \(extra.name)\(place)\(remark)"
            })
    }

    private func list(_ title: String, _ items: [String]) -> [String] {
        items.isEmpty ? [] : [title] + items.map { "- \($0)" }
    }
}
