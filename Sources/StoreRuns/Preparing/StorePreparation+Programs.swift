import CoreDataStore
import DurableFiles
import ManagedObjectModel
import MigrationEngine
import MigrationPlans
import SafeSQLite
import StateFolders

// Stores that programs of the user change between two legs of a way.
extension StorePreparation {
    /// Lets programs change a copy of the store that a leg gave, or takes the copy that a worker
    /// delivered.
    ///
    /// - Parameters:
    ///   - leg: that gave it, from 1.
    ///   - way: of the store.
    ///   - original: the store as it was found.
    /// - Returns: what the programs changed, for people.
    /// - Throws: `RunError`, also for a copy that is not of the leg's version any more.
    func edit(_ leg: Int, _ way: ModelWay, _ original: SourceStore) throws -> [String] {
        let given = way.legs[leg - 1]
        let names = given.programs.map(\.name).joined(separator: " and ")
        let edited = places.edited(leg)
        if case .delivered = steps {
            guard try FileStatus.ifPresentLink(edited)?.isRegularFile == true else {
                throw RunError.badDelivery("the store that \(names) changed is missing")
            }
        } else {
            // Programs may leave files beside it.
            let room = edited.adding(suffix: "_room")
            let copy = room.appending(original.path.lastComponent)
            try files.removeTrees([room, edited])
            try files.makeFolder(room)
            _ = try files.clone(from: places.written(leg).building, to: copy)
            try StepProgram.run(given.programs, on: copy, of: original.path)
            try files.rename(copy, to: edited, existing: .refuse)
            try files.removeTrees([room])
        }
        let after = try rowsAfter(names, edited, given, original)
        let (whole, first) = try opened(leg: leg, original, isEdited: false)
        let before = try whole.rowsByEntity(over: first)
        try first.close()
        let changes = Set(before.keys).union(after.keys).sorted().compactMap { entity -> String? in
            let counts = (before[entity] ?? 0, after[entity] ?? 0)
            guard counts.0 != counts.1 else { return nil }
            return "\(names): \(entity) had \(counts.0) objects and has \(counts.1) now"
        }
        return changes.isEmpty ? ["\(names): no entity's number of objects changed"] : changes
    }

    /// Rows by entity of a store that programs have changed, which is checked like a stranger's.
    private func rowsAfter(
        _ names: String, _ edited: FilePath, _ leg: ModelWay.Leg, _ original: SourceStore
    ) throws(RunError) -> [String: Int64] {
        var reason = "changed its model version or its UUID, and may change rows only"
        do throws(StoreError) {
            let (store, connection) = try opener.openConnected(
                StoreLocation(original.path), scratch: places.folder, checksPages: true,
                snapshot: .made(edited))
            let rows = try store.rowsByEntity(over: connection)
            try connection.close()
            let isSame =
                store.metadata.versionHashes == leg.destination.hashes.entities
                && store.metadata.uuid == original.metadata.uuid
            if isSame { return rows }
        } catch {
            reason = "left what cannot be read (\(error))"
        }
        if case .delivered = steps {
            throw .badDelivery("of a store on its way, \(names) \(reason)")
        }
        throw .engine(
            .programFailed(
                "\(original.path): the program \(names) \(reason). Nothing was written. Correct "
                    + "the program; then replay"))
    }
}
