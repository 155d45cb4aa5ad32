package import CoreDataStore
package import SafeSQLite
package import StoreFileChecks

/// A link as both sides must have it.
package struct FoundLink {
    package var owner: Int64 = 0
    package var target: Int64 = 0
    package var digest = ContentDigest128(high: 0, low: 0)

    package init() {}
}

/// Reads the links of one relationship from the rows of one table.
package struct LinkReader {
    /// What a row says of a relationship.
    package enum Outcome {
        /// The row holds no link of this relationship.
        case none
        /// The row's object should have a link and has none.
        case missing
        /// The row has a key of an object that nothing can find.
        case lost
        /// The row names an entity and no object.
        case stray
        /// The destination has no place for the row's link, whose objects it has.
        case dropped
        case link
    }

    /// The place among the relationships of the destination.
    package let place: Int
    let owner: LinkEndReader
    let target: LinkEndReader
    private let seed: HashSeed
    private let key: HashKey
    private let ownerOrder: Int?
    private let targetOrder: Int?
    private let isRequired: Bool
    private let namesTargetEntity: Bool

    /// Links of the source that become links of a destination relationship.
    package init(
        _ feed: LinkFeed, of place: LinkLocation, number: Int, mustExist: Bool, key: HashKey,
        list: inout SelectList, connection: Connection
    ) throws(StoreError) {
        self.place = number
        self.key = key
        seed = place.seed
        namesTargetEntity = place.namesTargetEntity
        for (name, expression) in feed.expressions { list.define(name, as: expression) }
        isRequired = feed.isRequired && place.isRequired && feed.storage.owner == .row
        // The destination keeps a link in the row of one end: without that row it is gone.
        owner = try LinkEndReader(
            feed.storage.owner, feed.owner, needsNumber: false,
            mustExist: mustExist || place.storage.owner == .row,
            list: &list, connection: connection)
        target = try LinkEndReader(
            feed.storage.target, feed.target, needsNumber: place.namesTargetEntity,
            mustExist: mustExist || place.storage.target == .row,
            list: &list, connection: connection)
        ownerOrder =
            place.keepsOwnerOrder ? feed.storage.ownerOrder.map { list.place(of: $0) } : nil
        targetOrder =
            place.keepsTargetOrder ? feed.storage.targetOrder.map { list.place(of: $0) } : nil
    }

    /// Links of a destination relationship as the destination has them.
    package init(
        _ place: LinkLocation, number: Int, layout: StoreLayout, key: HashKey,
        list: inout SelectList
    ) {
        self.place = number
        self.key = key
        seed = place.seed
        namesTargetEntity = place.namesTargetEntity
        isRequired = place.isRequired
        owner = LinkEndReader(
            place.storage.owner, numbers: layout.familyNumbers(of: place.ownerEntity), list: &list)
        target = LinkEndReader(
            place.storage.target, numbers: layout.familyNumbers(of: place.targetEntity),
            list: &list)
        ownerOrder =
            place.keepsOwnerOrder ? place.storage.ownerOrder.map { list.place(of: $0) } : nil
        targetOrder =
            place.keepsTargetOrder ? place.storage.targetOrder.map { list.place(of: $0) } : nil
    }

    /// Reads the link that a row holds.
    ///
    /// `key`: of the row, where it is an object's; else 0.
    /// `number`: of the row's entity.
    /// `link`: gets the link where there is one.
    package func read(
        _ row: RawRow, key: Int64, number: Int64, into link: inout FoundLink
    ) throws(StoreError) -> Outcome {
        let from = try owner.find(row, key: key, number: number, self.key)
        let to = try target.find(row, key: key, number: number, self.key)
        switch (from.state, to.state) {
        case (.found, .found): break
        case (.found, .absent), (.found, .gone): return isRequired ? .missing : .none
        case (.found, .namedOnly), (.namedOnly, .found): return isRequired ? .missing : .stray
        case (.found, .nameless): return isRequired ? .missing : .lost
        case (.nameless, .found): return .lost
        case (.dropped, .found), (.found, .dropped), (.dropped, .dropped): return .dropped
        default: return .none
        }
        link.owner = from.key
        link.target = to.key
        link.digest = ContentHash.link(
            seed, self.key.link(from.key, to.key), entity: namesTargetEntity ? to.number : 0,
            ownerOrder: order(row, ownerOrder), targetOrder: order(row, targetOrder))
        return .link
    }

    /// Whether rows of an entity can hold such links.
    func accepts(rowOf number: Int64) -> Bool {
        owner.accepts(rowOf: number) && target.accepts(rowOf: number)
    }

    @inline(__always)
    private func order(_ row: RawRow, _ column: Int?) -> Int64? {
        guard let column, !row.isNull(column) else { return nil }
        return row.wholeNumber(column, key)
    }
}
