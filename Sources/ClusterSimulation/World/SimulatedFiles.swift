import Jobs

/// What a file of the shared folder holds.
enum SimulatedContent: Hashable, Sendable {
    case shard([SimulatedResultRow])
    case links([SimulatedLink])
    case whole([SimulatedResultRow])
    /// An attempt was cut short while it wrote.
    case torn

    /// A hash that a receipt carries.
    var digest: String {
        var trace = SimulationTrace(keepsLines: false)
        switch self {
        case .shard(let rows), .whole(let rows):
            for row in rows {
                trace.fold(UInt64(bitPattern: Int64(row.key)))
                trace.fold(row.value)
                trace.fold(UInt64(bitPattern: Int64(row.target ?? -1)))
            }
        case .links(let links):
            for link in links {
                trace.fold(UInt64(bitPattern: Int64(link.key)))
                trace.fold(UInt64(bitPattern: Int64(link.target)))
            }
        case .torn: break
        }
        let text = String(trace.hash, radix: 16)
        return String(repeating: "0", count: 64 - text.count) + text
    }

    var bytes: Int64 {
        switch self {
        case .shard(let rows), .whole(let rows): Int64(rows.count) * 24 + 100
        case .links(let links): Int64(links.count) * 16 + 100
        case .torn: 1
        }
    }
}

/// A link that a link job found: the destination's keys of both rows.
struct SimulatedLink: Hashable, Sendable {
    let key: Int
    let target: Int
}

/// The folder that all machines share.
///
/// It is only ever asked for a name, never listed, so that no order of a dictionary can reach a
/// decision.
struct SimulatedFiles {
    private var files: [FileReference: SimulatedContent] = [:]

    var count: Int { files.count }

    subscript(_ file: FileReference) -> SimulatedContent? {
        get { files[file] }
        set { files[file] = newValue }
    }
}
