import CoreDataStore
import DurableFiles
import MappingModel
import ManagedObjectModel
package import SafeSQLite
package import StoreFileChecks
package import ValidationScans

/// Proves that a destination is what its source must become.
///
/// It reads both files by itself and applies the mapping again, row by row; it calls nothing of the
/// stages that made the destination. Memory is bounded: nothing grows with the rows.
package struct Validator: Sendable {
    package let scope: ValidationScope
    package let files: ValidationFiles
    /// The relationships of the destination that have storage of their own.
    let places: [LinkLocation]
    /// Rules that were made for scopes like this one.
    private let shared: SharedRules

    package init(scope: ValidationScope, files: ValidationFiles) {
        self.scope = scope
        self.files = files
        let shared = scope.cache.rules(SharedRules.Key(scope))
        self.shared = shared
        places = shared.places {
            scope.destination.storedLinks.compactMap { LinkLocation($0, scope: scope) }
        }
    }

    /// The parts that together prove everything.
    ///
    /// `sourceRanges`: ranges of keys by source table, together every key; tables that are
    /// not named are one part. Join tables are cut by their first column.
    /// `destinationRanges`: the same for destination tables.
    package func parts(
        sourceRanges: [String: [KeyRange]] = [:], destinationRanges: [String: [KeyRange]] = [:]
    ) -> [ValidationPart] {
        var parts: [ValidationPart] = [
            .pages, .file, .relationships, .keptTables,
        ]
        let layout = scope.destination
        for table in layout.tables {
            let ranges = destinationRanges[table.name] ?? [.all]
            parts += ranges.map { .destination(table: table.name, keys: $0) }
            if table.columns.contains(where: \.isExternal) {
                parts += ranges.map { .externalData(table: table.name, keys: $0) }
            }
            parts.append(.otherIndexes(table: table.name))
        }
        for join in layout.joinTables {
            parts += (destinationRanges[join.name] ?? [.all]).map {
                .destinationJoin(table: join.name, keys: $0)
            }
            parts.append(.otherIndexes(table: join.name))
        }
        parts += scope.policyRows.indices.map { .policyRows($0) }
        parts += scope.policyLinks.indices.map { .policyLinks($0) }
        parts += layout.indexes.map { .index(table: $0.table, name: $0.name) }
        for table in scope.source.tables {
            parts += (sourceRanges[table.name] ?? [.all]).map {
                .source(table: table.name, keys: $0)
            }
        }
        for join in scope.source.joinTables {
            parts += (sourceRanges[join.name] ?? [.all]).map {
                .sourceJoin(table: join.name, keys: $0)
            }
        }
        for place in places {
            parts += (destinationRanges[place.storage.table] ?? [.all]).map {
                .dangling(relationship: place.key, keys: $0)
            }
        }
        return parts
    }

    /// Runs one part on connections of its own.
    ///
    /// - Throws: `StoreError` where a file cannot be read.
    package func run(_ part: ValidationPart) throws(StoreError) -> PartialResult {
        try run(part, over: ValidationReading(self, isShared: false))
    }

    /// Runs one part on connections that parts before it may have used.
    ///
    /// - Throws: `StoreError` where a file cannot be read.
    package func run(
        _ part: ValidationPart, over reading: ValidationReading
    ) throws(StoreError) -> PartialResult {
        switch part {
        case .source(let table, let keys): return try source(table, keys, reading.source)
        case .destination(let table, let keys):
            return try destination(table, keys, reading.destination)
        case .sourceJoin(let table, let keys):
            guard let join = scope.source.joinTables.first(where: { $0.name == table }) else {
                return PartialResult()
            }
            return try JoinScan.source(
                join, keys: keys, scope: scope, places: places, file: reading.source)
        case .destinationJoin(let table, let keys):
            return try destinationJoin(table, keys, reading.destination)
        case .policyRows(let place):
            return try PolicyRowsCheck(
                rows: scope.policyRows[place], scope: scope, places: places,
                file: reading.destination
            ).run()
        case .policyLinks(let place):
            return try PolicyLinksCheck(
                links: scope.policyLinks[place], scope: scope, places: places,
                file: reading.destination
            ).run()
        case .index(let table, let name):
            return try index(table, reading.destination) { $0.name == name }
        case .otherIndexes(let table):
            let demanded = Set(
                scope.destination.indexes.lazy.filter { $0.table == table }.map(\.name))
            return try index(table, reading.destination) { !demanded.contains($0.name) }
        case .dangling(let relationship, let keys):
            return try dangling(relationship, keys, reading)
        case .relationships: return try relationships(reading)
        case .externalData(let table, let keys):
            guard let found = scope.destination.table(named: table) else {
                return PartialResult()
            }
            let check = ExternalDataCheck(
                files: files, allowsMissing: scope.allowsMissingExternalData)
            var result = PartialResult()
            result.faults = try check.run(
                found, keys: keys, connection: reading.destination.connection())
            return result
        case .keptTables:
            let found = try KeptTablesCheck(scope: scope, files: files, reading: reading).run()
            var result = PartialResult()
            result.findings["kept tables"] = found.findings
            result.notes = found.notes
            result.addLoss(.history, found.lostTransactions)
            for (table, count) in found.brokenChecks {
                let fault = Fault(entity: table, property: "", kind: .brokenCheck)
                result.addInherited(fault, count)
            }
            return result
        case .pages: return try pages(reading)
        case .file: return try file(reading)
        }
    }

    /// Runs every part, one after the other.
    package func run() throws(StoreError) -> ValidationReport {
        var whole = PartialResult()
        let reading = ValidationReading(self)
        for part in parts() { whole.merge(try run(part, over: reading)) }
        return try report(on: whole)
    }

    func openSource() throws(StoreError) -> Connection {
        try Connection(path: files.source, mode: .immutable, cacheKibibytes: files.cacheKibibytes)
    }

    func openDestination() throws(StoreError) -> Connection {
        try Connection(
            path: files.destination, mode: .immutable, cacheKibibytes: files.cacheKibibytes)
    }
}

// MARK: - Rows

extension Validator {
    private func source(
        _ name: String, _ keys: KeyRange, _ file: FileReading
    ) throws(StoreError) -> PartialResult {
        guard let table = scope.source.table(named: name) else { return PartialResult() }
        let scan = try SourceScan(
            table, keys: keys, scope: scope, places: places, file: file,
            externalData: files.sourceExternalData, shared: shared)
        return try scan.sums(table: name, places: places)
    }

    private func destination(
        _ name: String, _ keys: KeyRange, _ file: FileReading
    ) throws(StoreError) -> PartialResult {
        guard let table = scope.destination.table(named: name) else { return PartialResult() }
        let scan = try DestinationScan(
            table, keys: keys, scope: scope, places: places,
            indexes: file.indexes(of: name).filter(\.isWalkable), file: file, shared: shared)
        return try scan.sums(table: name, places: places)
    }

    private func destinationJoin(
        _ name: String, _ keys: KeyRange, _ file: FileReading
    ) throws(StoreError) -> PartialResult {
        guard let join = scope.destination.joinTables.first(where: { $0.name == name }) else {
            return PartialResult()
        }
        return try JoinScan.destination(
            join, keys: keys, scope: scope, places: places,
            indexes: file.indexes(of: name).filter(\.isWalkable), file: file)
    }

    private func index(
        _ table: String, _ file: FileReading, where isWanted: (IndexFacts) -> Bool
    ) throws(StoreError) -> PartialResult {
        var result = PartialResult()
        for facts in try file.indexes(of: table) where isWanted(facts) {
            guard facts.isWalkable else {
                result.notes.append("index \(facts.name) was not compared with its table")
                continue
            }
            let found = try IndexWalk(facts, key: scope.key, file: file).run()
            result.addActual(found.sum.content, facts.label)
            if found.disordered > 0 {
                result.findings["indexes", default: []].append(
                    "\(found.disordered) entries of index \(facts.name) are out of order")
            }
            // A unique index with equal entries is damaged, whatever the source holds.
            let fault = Fault(entity: facts.table, property: facts.name, kind: .duplicate)
            result.add(fault, destination: found.duplicates)
        }
        return result
    }
}

// MARK: - Relationships

extension Validator {
    private func dangling(
        _ key: PropertyKey, _ keys: KeyRange, _ reading: ValidationReading
    ) throws(StoreError) -> PartialResult {
        var result = PartialResult()
        guard let place = places.first(where: { $0.key == key }) else { return result }
        let fault = Fault(place.label, .dangling)
        let destination = LinkFaults(
            layout: scope.destination, file: reading.destination)
        let count = try destination.dangling(key, keys: keys)
        result.add(fault, destination: count)
        let source = LinkFaults(
            layout: scope.source, file: reading.source)
        for feed in place.feeds {
            if feed.storage.isJoin || place.storage.isJoin || !feed.isStoredLike(place) {
                // Ranges of the two sides do not correspond: the first range counts all.
                guard keys.lower == nil else { continue }
                result.add(fault, source: try source.dangling(feed.key, keys: .all))
            } else if count > 0 {
                let row = feed.storage.owner == .row ? feed.owner : feed.target
                let shifted = keys.shifted(down: row.kept.values.first?.offset ?? 0)
                result.add(fault, source: try source.dangling(feed.key, keys: shifted))
            }
        }
        return result
    }

    private func relationships(_ reading: ValidationReading) throws(StoreError) -> PartialResult {
        var result = PartialResult()
        let layout = scope.destination
        let destination = LinkFaults(
            layout: layout, file: reading.destination)
        let source = LinkFaults(
            layout: scope.source, file: reading.source)
        for entity in layout.model.numberedEntities {
            for relationship in entity.relationships
            where !relationship.isTransient && LinkFaults.hasBounds(relationship) {
                let key = PropertyKey(entity.name, relationship.name)
                let count = try destination.cardinality(key)
                guard count > 0 else { continue }
                let fault = Fault(key.description, .cardinality)
                result.add(fault, destination: count)
                for origin in origins(of: key) {
                    guard let before = scope.source.relationship(origin),
                        LinkFaults.hasBounds(before)
                    else { continue }
                    result.add(fault, source: try source.cardinality(origin))
                }
            }
        }
        for place in places {
            result.add(
                Fault(place.label, .missingOrder),
                destination: try destination.disorder(place, newPlaces: scope.newPlaces))
        }
        return result
    }

    /// The source relationships whose links a destination relationship has, in its direction.
    private func origins(of key: PropertyKey) -> [PropertyKey] {
        let own = LinkLocation.feeds(of: key, scope: scope).map(\.key)
        guard own.isEmpty, let inverse = scope.destination.inverseKey(of: key) else { return own }
        return LinkLocation.feeds(of: inverse, scope: scope).compactMap {
            scope.source.inverseKey(of: $0.key)
        }
    }
}

extension LinkFeed {
    /// Whether the row that holds a link is the same object on both sides.
    func isStoredLike(_ place: LinkLocation) -> Bool {
        (storage.owner == .row) == (place.storage.owner == .row)
            && (storage.target == .row) == (place.storage.target == .row)
    }
}

// MARK: - The file

extension Validator {
    private func pages(_ reading: ValidationReading) throws(StoreError) -> PartialResult {
        var result = PartialResult()
        let file = reading.destination
        let pages = try file.pageFindings()
        result.findings["pages"] = pages.pages
        result.findings["records"] = pages.records
        for table in try file.unwalkedTables() {
            do throws(StoreError) {
                let found = try file.connection().checkTable(table)
                if found == ["ok"] { continue }
                // What the source's own file earns as well, such as for a collation of its app.
                let isThere = try reading.source.schema().hasTable(table)
                let before = isThere ? try reading.source.connection().checkTable(table) : []
                if found == before {
                    result.notes += found.map { "inherited: \($0)" }
                } else {
                    result.findings["pages", default: []] += found
                }
            } catch {
                // Another program's index may call functions that only its app has.
                guard scope.newPlaces == .distinct else { throw error }
                result.notes.append("the indexes of table \(table) were not checked")
            }
        }
        return result
    }

    private func file(_ reading: ValidationReading) throws(StoreError) -> PartialResult {
        let (source, destination) = (reading.source, reading.destination)
        let before = FileCheck(layout: scope.source, file: source)
        let after = FileCheck(layout: scope.destination, file: destination)
        var result = PartialResult()
        // What the source's file earns as well is asked only where there is something to hold
        // against it.
        func add(
            _ name: String, _ found: [String],
            _ inherited: () throws(StoreError) -> [String] = { [] }
        ) throws(StoreError) {
            let known = found.isEmpty ? [] : Set(try inherited())
            result.findings[name] = found.filter { !known.contains($0) }
            result.notes += found.filter { known.contains($0) }.map { "inherited: \($0)" }
        }
        try add("header", FileCheck.header(files.destination)) { () throws(StoreError) in
            try FileCheck.header(files.source)
        }
        try add(
            "application numbers",
            FileCheck.applicationNumbers(source: source, destination: destination))
        try add("surplus objects", destination.surplus().unexplained(by: source.schema()))
        try add("schema", after.schema()) { () throws(StoreError) in try before.schema() }
        let keys = try PrimaryKeys.read(source.connection())
        try add(
            "primary keys",
            after.primaryKeys(maxima: scope.maxima, reserved: Set(keys.reserved.map(\.number)))
        ) { () throws(StoreError) in try before.primaryKeys(maxima: nil) }
        for entity in try before.lowMaxima(keys, known: scope.highestKeys) {
            result.addInherited(Fault(entity: entity, property: "Z_MAX", kind: .lowMaximum), 1)
        }
        try add("R-trees", after.rTrees())
        let old = try StoreMetadata.read(source.connection())
        let new = try StoreMetadata.read(destination.connection())
        let oldCheck = { () -> MetadataCheck in
            MetadataCheck(
                layout: scope.source, hashes: VersionHashes(scope.source.model),
                stores: scope.stores)
        }
        let newCheck = MetadataCheck(
            layout: scope.destination, hashes: scope.hashes, stores: scope.stores)
        try add("metadata", newCheck.check(new)) { () throws(StoreError) in oldCheck().check(old) }
        try add("metadata rows", MetadataCheck.rows(destination)) { () throws(StoreError) in
            try MetadataCheck.rows(source)
        }
        try add("app metadata", MetadataCheck.kept(source: old, destination: new))
        try add("model cache", newCheck.modelCache(destination)) { () throws(StoreError) in
            try oldCheck().modelCache(source)
        }
        return result
    }
}
