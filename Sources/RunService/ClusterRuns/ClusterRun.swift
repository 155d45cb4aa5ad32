import CoreDataStore
package import DurableFiles
import Foundation
package import Jobs
import MappingModel
import MigrationEngine
import MigrationPlans
package import RunLedger
import RunMoves
package import StateFolders
package import StoreRuns
import Synchronization

/// A run whose jobs are done by workers: what its coordinator needs to know of it, and where its
/// files are.
package final class ClusterRun: Sendable {
    package let context: RunContext
    let roots: SharedRoots
    private let choosesByPolicies: Bool
    /// Whether large stores are made from their pages by threads of this process.
    let rebuildsStores: Bool
    /// What jobs are told to keep to.
    package let limits: JobLimits
    /// What the run keeps to.
    package let bounds: RunBounds
    /// What validates results of small stores.
    let validation: ResultValidation
    /// What threads of this process validated.
    package let ownResults: OwnResults
    private let text: String
    private let digest: String
    /// The request's file by the root that it lies in.
    private let requests = Mutex<[String: FileReference]>([:])
    /// Small stores as they were when this process offered them.
    let offered = Mutex<[Int: StoreFingerprint]>([:])
    /// Stores that have moved and of which nothing is left to be removed.
    let cleaned = Mutex<Set<Int>>([])

    /// What all runs of a coordinator share.
    package struct Dependencies: Sendable {
        package var ledger: Ledger
        /// The state folder, symbolic links resolved.
        package var state: FilePath
        package var roots: SharedRoots
        package var environment: RunEnvironment
        package var cache = MigrationCache()
        /// What jobs keep to.
        package var limits: JobLimits
        /// Jobs at a time that plans are cut for, and threads that validate one store.
        package var slots: Int
        /// What validates results of small stores.
        package var validation = ResultValidation.coordinator
        /// Whether jobs wait for workers that carry the migration policies of their store: false
        /// where there are no workers to choose from.
        package var choosesByPolicies = true
        /// Whether large stores are made from their pages by threads of this process: where all
        /// jobs would run on this machine, jobs cost more than they bring.
        package var rebuildsStores = false
        /// Where threads of this process leave what they found of small stores.
        package let ownResults = OwnResults()

        package init(
            ledger: Ledger, state: FilePath, roots: SharedRoots, environment: RunEnvironment,
            limits: JobLimits, slots: Int
        ) {
            self.ledger = ledger
            self.state = state
            self.roots = roots
            self.environment = environment
            self.limits = limits
            self.slots = slots
        }
    }

    /// - Parameters:
    ///   - run: as the ledger has it.
    ///   - dependencies: what all runs share.
    /// - Throws: `RunError` for a request that this program cannot read.
    package init(_ run: RunOverview, _ dependencies: Dependencies) throws(RunError) {
        let recorded = try dependencies.cache.request(run.record.request)
        roots = dependencies.roots
        limits = dependencies.limits.validating(dependencies.validation != .coordinator)
        validation = dependencies.validation
        choosesByPolicies = dependencies.choosesByPolicies
        rebuildsStores = dependencies.rebuildsStores
        ownResults = dependencies.ownResults
        bounds = recorded.bounds ?? RunBounds()
        text = try dependencies.cache.workerText(run.record.request)
        digest = ContentDigest.hexadecimal(of: Array(text.utf8))
        context = RunContext(
            id: run.id, mark: recorded.mark + "-\(run.id)",
            request: try recorded.request(
                state: dependencies.state, slots: dependencies.slots),
            ledger: dependencies.ledger, environment: dependencies.environment.refusingLinks,
            state: dependencies.state,
            sharesState: dependencies.roots.root(of: dependencies.state) != nil,
            cache: dependencies.cache)
    }

    package var id: String { context.id }
    /// Whether results wait for a request to swap them.
    package var defersSwap: Bool { context.request.defersSwap }
    /// The destination's name, for people.
    package var destinationName: String { context.request.destinationName }

    /// Whether a store is cut into chunks, so that it is prepared before any job of it.
    ///
    /// A store whose files cannot be looked at is one, too: its preparation tells what is wrong.
    package func isLarge(_ store: FoundStore) -> Bool {
        do throws(DurableFileError) {
            return try StoreMeasure.isLarge(store, context.request.options)
        } catch {
            return true
        }
    }

    /// Whether the ledger has a move of the store's result that has not ended.
    ///
    /// - Throws: `RunError` where the ledger cannot be read.
    package func hasUnfinishedMove(_ store: FoundStore) throws(RunError) -> Bool {
        try CutOver(context).unfinished(store) != nil
    }

    /// Whether a step of such a move may have been taken, so that it must be resumed.
    ///
    /// - Throws: `RunError` where the ledger cannot be read or the files cannot be looked at.
    package func mayHaveBegunMove(_ store: FoundStore) throws(RunError) -> Bool {
        let mover = CutOver(context)
        guard let recorded = try mover.unfinished(store) else { return false }
        return try mover.mayHaveBegun(recorded)
    }

    /// A store that workers migrate by one job each, without preparation.
    package struct WholeStore: Hashable, Sendable {
        /// The request's file, which the job is done by.
        package let request: FileReference
        package let requestDigest: String
        package let source: FileReference
        /// Nil where the result takes the store's own place.
        package let destination: FileReference?
        /// Of the source as it is now.
        package let fingerprint: String
        /// The folder in which each attempt gets its own.
        package let attempts: FileReference
        /// The roots that its files lie in.
        package let roots: Set<String>
        /// The migration policies that a worker must carry.
        package let policies: Set<String>
    }

    /// The policies that a worker must carry for some of those that mappings name.
    func wanted(_ policies: [PolicyDeclaration]) -> Set<String> {
        choosesByPolicies ? Set(policies.map(\.identity)) : []
    }

    /// The policies that mappings of the run may name.
    private var namedPolicies: [PolicyDeclaration] {
        let options = context.request.options
        let names = Set(
            options.mappings.flatMap(\.definition.entityMappings).compactMap(\.policy))
        return options.policies.filter { names.contains($0.className) }
    }

    /// Looks at a small store.
    ///
    /// - Throws: `RunError` where it cannot be read, or lies in no root.
    package func whole(_ store: FoundStore) throws(RunError) -> WholeStore {
        let (location, result) = try locations(of: store)
        let path = location.database
        let source = try roots.reference(to: path)
        let request = try request(inRootOf: path)
        let attempts = try roots.reference(
            to: context.places(of: store, result: result).building)
        let fingerprint = try RunError.translating { try StoreFingerprint(of: path) }
        offered.withLock { $0[store.number] = fingerprint }
        let destination = try store.output.map { _ throws(RunError) in
            try roots.reference(to: result.database)
        }
        return WholeStore(
            request: request, requestDigest: digest, source: source, destination: destination,
            fingerprint: fingerprint.contentText, attempts: attempts,
            roots: Set([source, request, attempts].map(\.root)),
            policies: wanted(namedPolicies))
    }

    /// Where the store and its result lie, without symbolic links and in a root.
    ///
    /// - Throws: `RunError` where one of them cannot be resolved or lies in no root.
    func locations(
        of store: FoundStore
    ) throws(RunError) -> (store: StoreLocation, result: StoreLocation) {
        let location = StoreLocation(try roots.confined(store.path))
        guard let output = store.output else { return (location, location) }
        // Nothing is made before it is known where.
        let result = try roots.confined(output.database)
        try RunError.translating {
            try OutputFolder.make(
                result.parent, below: context.request.output, context.files)
        }
        return (location, StoreLocation(try roots.confined(result)))
    }

    /// Removes what was made of a store.
    ///
    /// - Throws: `RunError.file` for what stays.
    func removeFiles(of store: FoundStore) throws(RunError) {
        _ = offered.withLock { $0.removeValue(forKey: store.number) }
        let (_, result) = try locations(of: store)
        let places = context.places(of: store, result: result)
        try RunError.translating { try places.removeAll(context.files) }
    }

    /// Removes what was made of several stores; they share the syncs of their folders.
    ///
    /// - Returns: by the store's number, why something of it stays.
    func removeFiles(of stores: [FoundStore]) -> [Int: RunError] {
        var failures: [Int: RunError] = [:]
        var all: [Int: StorePaths] = [:]
        for store in stores {
            do throws(RunError) {
                let (_, result) = try locations(of: store)
                all[store.number] = context.places(of: store, result: result)
            } catch {
                failures[store.number] = error
            }
        }
        do throws(DurableFileError) {
            try StorePaths.removeAll(Array(all.values), context.files)
            return failures
        } catch {
            // One by one, to tell whose files stay.
        }
        for (number, places) in all {
            do throws(DurableFileError) {
                try places.removeAll(context.files)
            } catch {
                failures[number] = .file(error)
            }
        }
        return failures
    }

    /// The file with the run's request, written where workers see it.
    private func request(inRootOf path: FilePath) throws(RunError) -> FileReference {
        guard let root = context.sharesState ? roots.root(of: context.state) : roots.root(of: path)
        else { return try roots.reference(to: path) }
        if let known = requests.withLock({ $0[root.name] }) { return known }
        let file = requestFile(root)
        try RunError.translating {
            try context.files.makeFolders(file.parent)
            try context.files.publish(Array(text.utf8), to: file)
        }
        let reference = try roots.reference(to: file)
        requests.withLock { $0[root.name] = reference }
        return reference
    }

    /// What the name of a run's request in a root ends with.
    static func requestSuffix(of run: String) -> String { "-\(run)-request.json" }

    private func requestFile(_ root: FileRoot) -> FilePath {
        guard context.sharesState else {
            return root.folder.appending(
                FilePath("\(DurableFileSystem.temporaryPrefix)\(context.mark)-request.json"))
        }
        return RunFolders(state: context.state, run: id).request
    }

    /// Removes what the run as a whole left, once no job of it runs any more; also what an
    /// earlier process wrote, which was killed.
    ///
    /// - Throws: `RunError.file` for the first file that stays.
    package func clean() throws(RunError) {
        try RunError.translating {
            for root in roots.environment.roots.values {
                let file = requestFile(root)
                if try FileStatus.ifPresent(file) != nil { try context.files.remove(file) }
            }
            let folder = RunFolders(state: context.state, run: id).folder
            for name in try context.files.abandoned(in: folder) { try context.files.remove(name) }
        }
        requests.withLock { $0 = [:] }
    }
}
