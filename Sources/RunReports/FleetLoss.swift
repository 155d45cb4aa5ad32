import DurableFiles
import MappingInference
package import MappingModel

/// What several stores lose of one property, of one entity, or of history.
package struct FleetLoss: Hashable, Sendable {
    package let subject: Loss.Subject
    /// Of all of them.
    package fileprivate(set) var count: Int64
    package fileprivate(set) var stores = 1
    /// The version in between that keeps it, where there is one, and how much of it.
    package fileprivate(set) var renamed: Renamed?

    /// What a version in between keeps.
    package struct Renamed: Hashable, Sendable, Codable {
        /// Name of the version; of several, the first that was met.
        package let version: String
        /// What the destination calls it.
        package let name: String
        /// How much of the loss is of stores that the version would help.
        package fileprivate(set) var count: Int64
    }

    fileprivate init(_ loss: Loss) {
        subject = loss.subject
        count = loss.count
        addRename(of: loss)
    }

    fileprivate mutating func addRename(of loss: Loss) {
        guard let found = loss.renamed else { return }
        var renamed = renamed ?? Renamed(version: found.version, name: found.name, count: 0)
        renamed.count.add(clamped: loss.count)
        self.renamed = renamed
    }

    /// What all of them lose together.
    var loss: Loss { Loss(subject, count: count) }

    /// What follows where a version in between keeps some of it; else empty.
    var hint: String {
        guard let renamed else { return "" }
        let rename = IntermediateRename(version: renamed.version, name: renamed.name)
        let part = renamed.count == count ? "" : "of \(grouped(renamed.count)) of them, "
        return "; \(part)\(rename)"
    }
}

extension [FleetLoss] {
    /// How many losses are told apart: more are left to the stores' reports.
    package static var lossLimit: Int { 1000 }

    /// Takes in what one store loses; the list stays in the order of the counts.
    package mutating func add(_ losses: [Loss]) {
        guard !losses.isEmpty else { return }
        for loss in losses {
            if let place = firstIndex(where: { $0.subject == loss.subject }) {
                self[place].count.add(clamped: loss.count)
                self[place].stores += 1
                self[place].addRename(of: loss)
            } else if count < Self.lossLimit {
                append(FleetLoss(loss))
            }
        }
        sort { ($1.count, $0.subject) < ($0.count, $1.subject) }
    }
}

// Flat, as `docs/reference/json.md` shows it.
extension FleetLoss: Codable {
    private enum CodingKeys: String, CodingKey { case stores, renamed }

    package init(from decoder: any Decoder) throws {
        let loss = try Loss(from: decoder)
        (subject, count) = (loss.subject, loss.count)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        stores = try values.decode(Int.self, forKey: .stores)
        renamed = try values.decodeIfPresent(Renamed.self, forKey: .renamed)
    }

    package func encode(to encoder: any Encoder) throws {
        try loss.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(stores, forKey: .stores)
        try values.encodeIfPresent(renamed, forKey: .renamed)
    }
}
