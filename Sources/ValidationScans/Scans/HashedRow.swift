package import SafeSQLite

/// A row as one side has it: its key in the destination and the hashes of its cells.
package struct HashedRow {
    /// One cell of a row.
    package struct HashedCell {
        /// What the sum over its column is called.
        package let label: String
        /// Nil where a policy gives the value, or where it cannot be made because a file of
        /// external data is missing.
        package let digest: ContentDigest128?
    }

    package let key: Int64
    package let entity: String
    package let cells: [HashedCell]
}

extension SourceScan {
    /// Reads rows until one goes to the destination of the scan.
    ///
    /// - Returns: what the first program of its entity makes of it; nil behind the last row.
    /// - Throws: `StoreError` where the source cannot be read.
    package func nextRow() throws(StoreError) -> HashedRow? {
        while try rows.step() {
            let current = rows.row
            let stored = rules.onlyEntity ?? current.integer(1)
            guard let number = try rules.number(stored, current, key: current.integer(0)),
                number >= 0, number < rules.entities.count,
                let program = rules.entities[Int(number)]?.programs.first
            else { continue }
            let fate = rules.fates[program]
            let key = current.integer(0) &+ fate.offset
            let row = hashKey.row(key)
            var cells: [HashedRow.HashedCell] = []
            for cell in rules.programs[program].cells {
                let digest = try reader.expected(rules.cells[cell], current, row)
                cells.append(
                    HashedRow.HashedCell(
                        label: rules.labels[cell], digest: digest.map(ContentDigest128.init)))
            }
            return HashedRow(key: key, entity: fate.entity, cells: cells)
        }
        return nil
    }
}

extension DestinationScan {
    /// Reads rows until one is of an entity that the model has.
    ///
    /// - Returns: the row as it is stored; nil behind the last row.
    /// - Throws: `StoreError` where the destination cannot be read.
    package func nextRow() throws(StoreError) -> HashedRow? {
        while try rows.step() {
            let current = rows.row
            let number = current.integer(1)
            guard number >= 0, number < rules.entities.count,
                let entity = rules.entities[Int(number)]
            else { continue }
            let key = current.integer(0)
            let row = hashKey.row(key)
            let cells = entity.cells.map { place in
                let cell = rules.cells[place]
                let digest = CellReader.stored(current, cell.column, cell.seed, row)
                return HashedRow.HashedCell(
                    label: rules.labels[place], digest: ContentDigest128(digest))
            }
            return HashedRow(key: key, entity: rules.names[Int(number)], cells: cells)
        }
        return nil
    }
}

extension ContentDigest128 {
    fileprivate init(_ cell: CellDigest) { self.init(high: cell.high, low: cell.low) }
}
