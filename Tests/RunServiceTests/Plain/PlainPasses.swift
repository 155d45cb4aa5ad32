import ManagedObjectModel
import MappingExpressions
import MappingModel

/// Which entity mappings take each object of a store, and how far its keys move.
struct PlainPasses {
    let store: PlainStore
    let model: Model
    let mapping: Mapping
    /// By root entity and key.
    private var byObject: [String: [Int64: [EntityMapping]]] = [:]
    private var offsets: [String: Int64] = [:]
    /// The names of entity mappings by destination root, in the order of their keys; those that
    /// share keys together.
    private var order: [String: [[String]]] = [:]
    /// The highest key that each root of the destination ever had.
    private(set) var tops: [String: Int64] = [:]

    init(_ store: PlainStore, to model: Model, mapping: Mapping) {
        self.store = store
        self.model = model
        self.mapping = mapping
        for (root, rows) in store.objects {
            for (key, object) in rows {
                byObject[root, default: [:]][key] = mapping.entityMappings.filter {
                    $0.source == object.entity && $0.destination != nil
                        && takes($0, PlainReference(entity: object.entity, key: key))
                }
            }
        }
        placeKeys()
    }

    private func takes(_ mapped: EntityMapping, _ object: PlainReference) -> Bool {
        guard let filter = mapped.filter else { return true }
        do throws(ExpressionError) {
            return try PlainEvaluation(store: store).value(
                of: filter.sourceExpression, for: object, now: RandomCase.now, type: .boolean)
                == .integer(1)
        } catch {
            return false
        }
    }

    /// Mappings that take one object twice into one table get keys above all others.
    private mutating func placeKeys() {
        struct Way: Hashable {
            let from: String
            let to: String
            let layer: Int
        }
        var ways: [Way: [String]] = [:]
        for mapped in mapping.entityMappings {
            guard let from = mapped.source, let to = mapped.destination else { continue }
            let (table, place) = (store.root(of: from), model.root(of: to)?.name ?? to)
            var layer = 0
            while ways[Way(from: table, to: place, layer: layer)]?.contains(where: {
                meet($0, mapped)
            }) == true {
                layer += 1
            }
            let way = Way(from: table, to: place, layer: layer)
            if let known = ways[way]?.first {
                offsets[mapped.name] = offsets[known]
                let index = order[place]?.firstIndex { $0.contains(known) } ?? 0
                order[place]?[index].append(mapped.name)
            } else {
                let highest = max(
                    store.maxima[table] ?? 0, store.objects[table]?.keys.max() ?? 0)
                offsets[mapped.name] = tops[place] ?? 0
                order[place, default: []].append([mapped.name])
                tops[place, default: 0] += highest
            }
            ways[way, default: []].append(mapped.name)
        }
    }

    /// Whether one object passes through both; without filters that is so even without objects.
    private func meet(_ name: String, _ mapped: EntityMapping) -> Bool {
        guard let other = mapping.entityMappings.first(where: { $0.name == name }),
            other.source == mapped.source
        else { return false }
        if other.filter == nil, mapped.filter == nil { return true }
        return byObject[store.root(of: mapped.source ?? "")]?.values.contains { passes in
            [name, mapped.name].allSatisfy { name in passes.contains { $0.name == name } }
        } ?? false
    }

    /// The entity mappings that take an object.
    func passes(_ key: Int64, of entity: String) -> [EntityMapping] {
        byObject[store.root(of: entity)]?[key] ?? []
    }

    /// How far the keys of objects of an entity mapping move.
    func offset(of mapped: EntityMapping) -> Int64 { offsets[mapped.name] ?? 0 }

    /// Whether a key stays apart from those of other mappings' objects.
    func staysApart(_ key: Int64, by mapped: EntityMapping) -> Bool {
        let offset = offset(of: mapped)
        let root = mapped.destination.flatMap { model.root(of: $0)?.name } ?? ""
        let following = (order[root] ?? []).drop { !$0.contains(mapped.name) }.dropFirst()
        let next = following.first?.first.flatMap { offsets[$0] }
        return (offset == 0 || key >= 1) && next.map { key + offset <= $0 } ?? true
    }

    /// Whether objects of an entity, or of one that inherits from it, go several ways.
    func isSplit(_ entity: String) -> Bool {
        store.model.family(of: entity).contains { member in
            let own = mapping.entityMappings.filter { $0.source == member.name }
            return own.count > 1 || own.contains { $0.filter != nil }
        }
    }
}
