import CoreDataStore
import MappingModel
import SafeSQLite
package import StoreFileChecks
import Synchronization

/// What validations of stores of the same app have in common, worked out once for all of them.
///
/// Everything in it follows from its keys alone: nothing that was found in one store's rows is
/// believed of another's.
package final class ValidationCache: Sendable {
    private let scopes = Memo<SharedRules.Key, SharedRules>(limit: ValidationCache.limit)
    /// What follows from the schemas of files.
    package let schemas = SchemaCache()

    /// The most versions of apps that are kept.
    private static let limit = 32

    package init() {}

    /// The rules that scopes share.
    package func rules(_ key: SharedRules.Key) -> SharedRules {
        scopes.value(for: key) { SharedRules() }
    }
}

/// The rules of scopes with the same layouts, mapping and moves of keys, made when first asked for.
package final class SharedRules: Sendable {
    /// Everything that rules follow from.
    package struct Key: Equatable, Sendable {
        let source: StoreLayout
        let destination: StoreLayout
        let mapping: Mapping
        let splits: [SourceSplit]
        let moves: [String: ValidationScope.KeyMove]
        let dangling: DanglingPolicy
        let now: Double
        let keysBelowCreated: [String: Int64]

        package init(_ scope: ValidationScope) {
            source = scope.source
            destination = scope.destination
            mapping = scope.mapping
            splits = scope.splits
            moves = scope.moves
            dangling = scope.dangling
            now = scope.now
            keysBelowCreated = scope.keysBelowCreated
        }
    }

    private struct Made {
        var places: [LinkLocation]?
        var sources: [String: SourceRules] = [:]
        var destinations: [String: DestinationRules] = [:]
    }

    private let made = Mutex(Made())

    /// The relationships of the destination that have storage of their own.
    package func places(make: () -> [LinkLocation]) -> [LinkLocation] {
        if let known = made.withLock({ $0.places }) { return known }
        let places = make()
        made.withLock { $0.places = places }
        return places
    }

    /// The rules of a source table with all its links.
    func sourceRules(_ table: String, make: () -> SourceRules) -> SourceRules {
        if let known = made.withLock({ $0.sources[table] }) { return known }
        let rules = make()
        made.withLock { $0.sources[table] = rules }
        return rules
    }

    /// The rules of a destination table with all its links and these indexes.
    func destinationRules(
        _ table: String, _ indexes: [IndexFacts], make: () -> DestinationRules
    ) -> DestinationRules {
        if let known = made.withLock({ $0.destinations[table] }), known.indexes == indexes {
            return known
        }
        let rules = make()
        made.withLock { $0.destinations[table] = rules }
        return rules
    }
}
