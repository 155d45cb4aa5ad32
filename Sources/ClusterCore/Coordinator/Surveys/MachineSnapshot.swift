import ClusterTables
import ClusterVocabulary

/// The machine's state at one moment, by reference: readers share it, and it is copied once.
final class MachineSnapshot: Sendable {
    let state: MachineState

    init(_ state: MachineState) { self.state = state }
}
