package import DurableFiles
package import SafeSQLite

/// Finds the external data files that a store's values refer to.
package struct ExternalDataSurvey {
    private let store: SourceStore
    private let connection: Connection

    /// What the references lead to.
    package struct Result {
        package var present: Int64 = 0
        package var bytes: Int64 = 0
        package var missing: Int64 = 0
    }

    /// - Parameters:
    ///   - store: whose values are read.
    ///   - connection: to the store.
    package init(store: SourceStore, connection: Connection) {
        self.store = store
        self.connection = connection
    }

    /// Looks every reference up.
    ///
    /// - Throws: `StoreError` or `DurableFileError`.
    /// - Complexity: one pass over each table with such an attribute; values themselves are
    ///   read only where they are as long as a reference.
    package func read(files: DurableFileSystem) throws -> Result {
        var result = Result()
        var counted: Set<String> = []
        let folder = store.externalData
        try Self.references(in: store.layout, connection) { name in
            let file = folder.appending(name)
            let status = try FileStatus.ifPresent(file)
            // A link could lead to any file of this machine.
            if status != nil, try FileStatus(ofLink: file).isSymbolicLink {
                throw StoreError.unsupported(
                    path: store.path.description,
                    reason: "its external data file \(name) is a symbolic link; put the file "
                        + "itself there")
            }
            if let status, status.isRegularFile {
                // Several objects may refer to one file.
                guard counted.insert(name).inserted else { return }
                result.present += 1
                result.bytes = result.bytes.addingClamped(status.size)
            } else {
                result.missing += 1
            }
        }
        return result
    }

    /// Calls the body with the name of every file that a value refers to.
    ///
    /// - Parameters:
    ///   - layout: of the file.
    ///   - connection: to the file.
    ///   - chosen: the columns to look at, as `TABLE.COLUMN`; nil for all that allow external
    ///     storage.
    ///   - body: gets each name.
    /// - Throws: `StoreError`, or what the body throws.
    package static func references(
        in layout: StoreLayout, _ connection: Connection, only chosen: Set<String>? = nil,
        _ body: (String) throws -> Void
    ) throws {
        for table in layout.tables {
            for column in table.columns
            where column.isExternal && chosen?.contains("\(table.name).\(column.name)") != false {
                let name = SQLText.quoted(column.name)
                // SQLite knows a blob's length without reading it.
                let values = try connection.prepare(
                    "SELECT \(name) FROM \(SQLText.quoted(table.name)) "
                        + "WHERE length(\(name)) = \(ExternalReference.referenceLength)")
                while try values.step() {
                    if case .file(let file) = ExternalReference(values.bytes(0)) {
                        try body(file)
                    }
                }
            }
        }
    }
}
