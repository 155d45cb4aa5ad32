import Jobs
import MigrationEngine

extension AssemblyStep {
    /// The jobs whose shards the step takes.
    var works: [Work] {
        switch self {
        case .append(let chunk): [.copy(chunk: chunk)]
        case .merge(let chunks): chunks.map { .copy(chunk: $0) }
        case .link(let chunk): [.link(chunk: chunk)]
        case .tables, .foundObjects, .rowsComplete, .pageIndexes, .index, .finish: []
        }
    }

    /// Whether a job has to be done before it.
    var takesShards: Bool {
        switch self {
        case .append, .merge, .link: true
        case .tables, .foundObjects, .rowsComplete, .pageIndexes, .index, .finish: false
        }
    }

    /// Whether it applies links.
    var isLink: Bool { if case .link = self { true } else { false } }
}
