import CoreDataStore
import SafeSQLite
import StoreFileChecks

/// One end of a link as a row names it.
struct FoundEnd {
    enum State {
        case absent
        /// Without a key, but with the number of an entity.
        case namedOnly
        /// Its object goes somewhere, and is of an entity that cannot stand there.
        case dropped
        /// Its object goes nowhere.
        case removed
        /// Its row is not there.
        case gone
        /// Nothing names an entity that can stand there, and the key cannot be moved without.
        case nameless
        case found
    }

    var state: State
    /// In the destination's keys.
    var key: Int64 = 0
    /// In the destination's numbers; 0 where nothing names it.
    var number: Int64 = 0
}

/// Reads one end of links and moves it to the destination.
struct LinkEndReader {
    private enum Mode {
        /// The row itself is the end: its entity tells what becomes of it.
        case row
        /// Everything that can stand there moves alike.
        case constant(offset: Int64, number: Int64)
        /// The entity stands in a column.
        case named
        /// The entity is found by looking the object up.
        case lookedUp
        /// The destination's own link, taken as it stands.
        case asItStands
    }

    private let mode: Mode
    private let column: Int
    private let entityColumn: Int?
    /// The column that names the end's entity, where the destination has one, too.
    private let namingColumn: Int?
    private let fates: FateTable
    /// Entities that can stand there and whose links are dropped.
    private let dropped: FateTable
    /// Those of them whose objects go nowhere.
    private let removed: FateTable
    /// Whether all that can stand there keep their numbers.
    private let keepsNumbers: Bool
    /// The only entity of the end's table, whatever its rows say; nil where several share it.
    private let onlyEntity: Int64?
    /// The keys that references may have.
    private let least: Int64
    private let greatest: Int64
    /// The offset that everything shares which can stand there.
    private let commonOffset: Int64?
    /// Looks an object up by its key: its entity's number, and what filters read.
    private let lookup: Statement?
    private let split: SplitReader?
    /// Tells, where the row names an entity that cannot stand there, whether the object is there.
    private let presence: Statement?
    private let mustExist: Bool

    /// An end of a source link.
    ///
    /// `needsNumber`: whether the destination names the entity of this end.
    /// `mustExist`: whether links to objects that are gone vanish.
    init(
        _ end: LinkStorage.End, _ known: EndFates, needsNumber: Bool, mustExist: Bool,
        list: inout SelectList, connection: Connection
    ) throws(StoreError) {
        fates = FateTable(known.kept)
        dropped = FateTable(unchanged: known.possible.filter { known.kept[$0] == nil })
        removed = FateTable(unchanged: known.removed)
        keepsNumbers = known.possible.allSatisfy { known.kept[$0]?.number == $0 }
        onlyEntity = known.onlyEntity
        commonOffset = known.commonOffset
        least = known.least ?? .min
        greatest = known.greatest ?? .max
        var isLookedUp = mustExist
        switch end {
        case .row:
            (mode, column, entityColumn, namingColumn) = (.row, 0, nil, nil)
            isLookedUp = false
        case .column(let name, let entity):
            column = list.place(of: name)
            namingColumn = needsNumber ? entity.map { list.place(of: $0) } : nil
            let isSingle = known.possible.count == 1
            if let offset = known.commonOffset, isSingle || !needsNumber {
                let number = known.possible.first.flatMap { known.kept[$0]?.number } ?? 0
                mode = .constant(offset: offset, number: needsNumber ? number : 0)
                entityColumn = nil
            } else if let entity, known.split == nil {
                mode = .named
                entityColumn = list.place(of: entity)
            } else {
                mode = .lookedUp
                entityColumn = nil
                isLookedUp = true
            }
        }
        self.mustExist = mustExist && isLookedUp
        let entity: SQLText = "SELECT Z_ENT FROM \(SQLText.quoted(known.table)) WHERE Z_PK = ?1"
        split = known.split
        let columns = (["Z_ENT"] + (split?.inputs ?? [])).joined(separator: ", ")
        lookup =
            isLookedUp
            ? try connection.prepare(
                "SELECT \(columns) FROM \(SQLText.quoted(known.table)) WHERE Z_PK = ?1") : nil
        if case .named = mode {
            presence = try connection.prepare(entity)
        } else {
            presence = nil
        }
    }

    /// An end of a link of the destination, whose keys and numbers are taken as they stand.
    ///
    /// `numbers`: of entities that rows must have to be this end.
    init(_ end: LinkStorage.End, numbers: [Int64], list: inout SelectList) {
        lookup = nil
        split = nil
        presence = nil
        dropped = FateTable([:])
        removed = FateTable([:])
        keepsNumbers = true
        onlyEntity = nil
        commonOffset = nil
        (least, greatest) = (.min, .max)
        mustExist = false
        switch end {
        case .row:
            (mode, column, entityColumn, namingColumn) = (.row, 0, nil, nil)
            fates = FateTable(unchanged: numbers)
        case .column(let name, let entity):
            mode = .asItStands
            column = list.place(of: name)
            entityColumn = entity.map { list.place(of: $0) }
            namingColumn = entityColumn
            fates = FateTable([:])
        }
    }

    /// Finds the end.
    ///
    /// `row`: holds the link.
    /// `key`: of the row, where it is an object's.
    /// `number`: of the row's entity.
    /// `hashKey`: for what is no integer.
    func find(
        _ row: RawRow, key: Int64, number: Int64, _ hashKey: HashKey
    ) throws(StoreError) -> FoundEnd {
        if case .row = mode { return moved(key, number) }
        guard !row.isNull(column) else {
            let isNamed = namingColumn.map { !row.isNull($0) } ?? false
            return FoundEnd(state: isNamed ? .namedOnly : .absent)
        }
        let key = row.wholeNumber(column, hashKey)
        guard key >= least, key <= greatest else { return FoundEnd(state: .gone) }
        var lookedUp: Int64?
        if let lookup {
            try lookup.bind(key, at: 1)
            defer { lookup.reset() }
            if try lookup.step() {
                let stored = onlyEntity ?? lookup.integer(0)
                lookedUp =
                    try split.map { split throws(StoreError) in
                        try split.number(stored, RawRow(lookup), first: 1, key: key) ?? -1
                    } ?? stored
            }
            if mustExist {
                guard let lookedUp else { return FoundEnd(state: .gone) }
                guard fates.has(lookedUp) else {
                    return FoundEnd(state: droppedState(lookedUp) ?? .gone)
                }
            }
        }
        switch mode {
        case .constant(let offset, let number):
            return FoundEnd(state: .found, key: key &+ offset, number: number)
        case .named:
            let number = entityColumn.map { row.wholeNumber($0, hashKey) } ?? hashKey.nothing
            return try named(key, number, hashKey)
        case .lookedUp:
            guard let lookedUp else { return FoundEnd(state: .gone) }
            return moved(key, lookedUp)
        case .asItStands, .row:
            return FoundEnd(
                state: .found, key: key,
                number: entityColumn.map { row.wholeNumber($0, hashKey) } ?? 0)
        }
    }

    /// An end whose entity a column names.
    ///
    /// A column that names no entity that can stand there is a fault of the source. Its key
    /// moves as long as every key of the table moves alike; the column stays as it is as long as
    /// the numbers do, and is empty where they change.
    private func named(
        _ key: Int64, _ number: Int64, _ hashKey: HashKey
    ) throws(StoreError) -> FoundEnd {
        if let commonOffset, !fates.has(number) {
            return FoundEnd(
                state: .found, key: key &+ commonOffset,
                number: keepsNumbers ? number : hashKey.nothing)
        }
        let end = moved(key, number)
        guard [.dropped, .removed].contains(end.state), let presence else { return end }
        try presence.bind(key, at: 1)
        defer { presence.reset() }
        return try presence.step() ? end : FoundEnd(state: .gone)
    }

    private func moved(_ key: Int64, _ number: Int64) -> FoundEnd {
        guard fates.has(number) else {
            return FoundEnd(state: droppedState(number) ?? .nameless)
        }
        let fate = fates[number]
        return FoundEnd(state: .found, key: key &+ fate.offset, number: fate.number)
    }

    /// How an object of an entity is dropped; nil where it is not, or cannot stand there at all.
    private func droppedState(_ number: Int64) -> FoundEnd.State? {
        if removed.has(number) { return .removed }
        return dropped.has(number) ? .dropped : nil
    }

    /// Whether rows of an entity can be this end; true for ends that stand in columns.
    func accepts(rowOf number: Int64) -> Bool {
        if case .row = mode { return fates.has(number) }
        return true
    }
}

/// What becomes of objects by the number of their entity, without hashing.
struct FateTable {
    struct Entry {
        var isKept = false
        var offset: Int64 = 0
        var number: Int64 = 0
    }

    private var entries: [Entry] = []

    init(_ fates: [Int64: Fate]) {
        for (number, fate) in fates {
            set(number, Entry(isKept: true, offset: fate.offset, number: fate.number))
        }
    }

    /// Objects of these entities stay what they are.
    init(unchanged numbers: [Int64]) {
        for number in numbers { set(number, Entry(isKept: true, offset: 0, number: number)) }
    }

    private mutating func set(_ number: Int64, _ entry: Entry) {
        guard number >= 0, number < PrimaryKeys.firstReserved else { return }
        while entries.count <= Int(number) { entries.append(Entry()) }
        entries[Int(number)] = entry
    }

    @inline(__always)
    func has(_ number: Int64) -> Bool {
        number >= 0 && number < entries.count && entries[Int(number)].isKept
    }

    /// The entry of a number that the table has.
    @inline(__always)
    subscript(number: Int64) -> Entry { entries[Int(number)] }
}
