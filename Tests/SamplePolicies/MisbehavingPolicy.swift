import Godwit

/// Does at an object what the text of the object says.
struct MisbehavingPolicy: MigrationPolicy {
    static let effects = PolicyEffects(sets: ["summary", "tag"], carries: ["tag"])

    func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        switch try source.string("tag") {
        case "trap": preconditionFailure("as the object says")
        case "hang": hang()
        case "exhaust": exhaust()
        case "refuse": throw PolicyRefusal("the object says so")
        default: try destination.set("summary", to: "fine")
        }
    }

    private func hang() {
        var number: UInt64 = 1
        while number != 0 { number = number &* 3 | 1 }
        print(number)
    }

    private func exhaust() {
        var held: [[UInt8]] = []
        while true { held.append([UInt8](repeating: 1, count: 64 << 20)) }
    }
}
