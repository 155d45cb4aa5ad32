import CoreDataStore
import DurableFiles
import LocalRun
import ManagedObjectModel
import MigrationEngine

/// Turns the options of `plan` and `migrate` into one request for each store.
struct RequestBuilder {
    private let arguments: MigrationArguments
    private let options: PlanOptions
    private let destination: DestinationChoice
    private let sourceModel: Model?
    /// The stores in the order of the command line.
    let stores: [FilePath]

    /// Checks the command line and reads the models; warnings go to standard error.
    ///
    /// - Parameters:
    ///   - arguments: as parsed.
    ///   - scratch: an existing folder for snapshots of template stores.
    /// - Throws: `CommandFailure`.
    init(_ arguments: MigrationArguments, scratch: FilePath) throws(CommandFailure) {
        self.arguments = arguments
        options = try arguments.options()
        stores = try RequestBuilder.checked(arguments.stores)
        sourceModel = try RequestBuilder.load(arguments.from, scratch: scratch)?.model
        if case .itself = arguments.to.form {
            destination = .itself
        } else {
            guard let loaded = try RequestBuilder.load(arguments.to, scratch: scratch) else {
                throw CommandFailure(.bug, "a bug of godwit: the destination was not read")
            }
            destination = .model(try CommandFailure.translating { try loaded.destination() })
        }
    }

    /// The request for one store.
    ///
    /// - Parameters:
    ///   - store: one of `stores`.
    ///   - output: the folder of the results.
    ///   - state: the folder of the runs; each store has its own below it.
    /// - Returns: the request.
    func request(store: FilePath, output: FilePath, state: FilePath) -> MigrationRequest {
        MigrationRequest(
            store: store, output: output.appending(store.lastComponent),
            state: state.appending(store.lastComponent), destination: destination,
            sourceModel: sourceModel, options: options, slots: arguments.slots)
    }

    /// The paths, no two of them with the same file name: names are those of the results.
    private static func checked(_ texts: [String]) throws(CommandFailure) -> [FilePath] {
        var paths: [FilePath] = []
        for text in texts {
            let path = try StorePath.check(text)
            if let other = paths.first(where: { $0.lastComponent == path.lastComponent }) {
                throw .usage(
                    "\(other) and \(path) have the same file name, which is that of the result; "
                        + "migrate them one after the other into different folders")
            }
            if let other = paths.first(where: {
                SupportFolder.folder(ofStore: $0.lastComponent)
                    == SupportFolder.folder(ofStore: path.lastComponent)
            }) {
                throw .usage(
                    "\(other) and \(path) differ in nothing but their extension, and so their "
                        + "results would share a folder of external data; migrate them one after "
                        + "the other into different folders")
            }
            paths.append(path)
        }
        return paths
    }

    private static func load(
        _ argument: ModelArgument?, scratch: FilePath
    ) throws(CommandFailure) -> LoadedModel? {
        guard let loaded = try argument?.load(scratch: scratch) else { return nil }
        for warning in loaded.warnings { Console.log("warning: \(warning)") }
        return loaded
    }
}
