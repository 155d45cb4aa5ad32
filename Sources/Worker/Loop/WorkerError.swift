/// Why a worker cannot be one, however often it tries.
package enum WorkerError: Error, Hashable, Sendable {
    /// The coordinator has the worker's key on the list of clients.
    case clientsKey
}

extension WorkerError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .clientsKey:
            "this is a client's key on the coordinator's list; give a worker's, such as that of "
                + "workers/NAME in the folder of keys"
        }
    }
}
