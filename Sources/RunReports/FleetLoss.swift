package import MigrationValidation

/// What several stores lose of one property, of one entity, or of history.
package struct FleetLoss: Hashable, Sendable {
    package let subject: Loss.Subject
    /// Of all of them.
    package fileprivate(set) var count: Int64
    package fileprivate(set) var stores = 1

    fileprivate init(_ loss: Loss) {
        subject = loss.subject
        count = loss.count
    }

    /// What all of them lose together.
    var loss: Loss { Loss(subject, count: count) }
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
            } else if count < Self.lossLimit {
                append(FleetLoss(loss))
            }
        }
        sort { ($1.count, $0.subject) < ($0.count, $1.subject) }
    }
}

// Flat, as `docs/reference/json.md` shows it.
extension FleetLoss: Codable {
    private enum CodingKeys: String, CodingKey { case stores }

    package init(from decoder: any Decoder) throws {
        self.init(try Loss(from: decoder))
        stores = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .stores)
    }

    package func encode(to encoder: any Encoder) throws {
        try loss.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(stores, forKey: .stores)
    }
}
