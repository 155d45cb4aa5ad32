import ArgumentParser
import CommandSupport
import CoreDataStore
import MappingModel
import MigrationPlans

/// `--strategy`.
enum StrategyArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case auto, evolve, whole, partitioned

    /// What help and shells offer.
    static var allValueStrings: [String] {
        allCases.filter { $0 != .evolve }.map(\.rawValue)
    }

    /// Nil lets the store's size decide.
    ///
    /// - Throws: `CommandFailure` with status 64 for what this version does not have.
    func strategy() throws(CommandFailure) -> Strategy? {
        switch self {
        case .auto: return nil
        case .whole: return .whole
        case .partitioned: return .partitioned
        case .evolve:
            throw .usage(
                "the strategy evolve is not available in this version; use auto, whole or "
                    + "partitioned")
        }
    }
}

/// One `--partition`.
enum PartitionArgument: Hashable, Sendable {
    case auto, key, entity
    case uuid(PropertyKey)

    /// Reads `auto`, `key`, `entity` or `uuid:Entity.attribute`; nil for anything else.
    init?(_ text: String) {
        switch text {
        case "auto": self = .auto
        case "key": self = .key
        case "entity": self = .entity
        default:
            guard text.hasPrefix("uuid:") else { return nil }
            let parts = text.dropFirst("uuid:".count)
                .split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
            self = .uuid(PropertyKey(String(parts[0]), String(parts[1])))
        }
    }

    /// The one mode that all `--partition` options together mean; `auto` without any.
    ///
    /// - Throws: `CommandFailure` with status 64 for modes that exclude each other. Only `uuid:`
    ///   may be repeated; entities that are not named go by `auto` then.
    static func mode(_ all: [PartitionArgument]) throws(CommandFailure) -> PartitionMode {
        var keys: [PropertyKey] = []
        var others: [PartitionMode] = []
        for one in all {
            switch one {
            case .auto: others.append(.auto)
            case .key: others.append(.key)
            case .entity: others.append(.entity)
            case .uuid(let key):
                guard !keys.contains(where: { $0.entity == key.entity }) else {
                    throw .usage("--partition names two attributes of \(key.entity)")
                }
                keys.append(key)
            }
        }
        if keys.isEmpty, others.count <= 1 { return others.first ?? .auto }
        // `auto` beside `uuid:` says what holds anyway.
        if !keys.isEmpty, others.allSatisfy({ $0 == .auto }) { return .uuid(keys) }
        throw .usage("give --partition once, or several times with uuid: of different entities")
    }
}

extension PartitionArgument: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }

    static var allValueStrings: [String] {
        ["auto", "key", "entity", "uuid:<Entity>.<attribute>"]
    }
}

extension HistoryPolicy: ExpressibleByArgument {}
extension DanglingPolicy: ExpressibleByArgument {}
