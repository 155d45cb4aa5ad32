package import CoreDataStore
package import DurableFiles
import Foundation
import ManagedObjectModel
import SafeSQLite

/// How parts are imported.
package struct ImportOptions: Hashable, Sendable {
    /// Attributes that identify objects, by entities, beyond the model's uniqueness constraints.
    package var keys: [String: String] = [:]
    /// Objects of one transaction, at most.
    package var batchObjects = 10_000
    /// Bytes of lines after which a transaction ends.
    package var batchBytes = 16 << 20
    /// Whether a part is removed as soon as all of it is in the store.
    package var removesParts = false

    package init() {}
}

/// Imports numbered part files into a store, in order and in batches.
///
/// What is done stands in the store's own metadata, written in the transaction of each batch:
/// killed at any moment, an import resumes behind the last batch, with every object once.
package struct StoreImport: Sendable {
    private let store: FilePath
    private let destination: DestinationModel?
    private let options: ImportOptions
    private let identifier: String
    private let files: DurableFileSystem

    /// - Parameters:
    ///   - store: that is filled; it is made where it is missing.
    ///   - destination: its model; nil for the model of a store that exists.
    ///   - options: how parts are imported.
    ///   - identifier: the UUID of a store that is made.
    ///   - files: through which files are read and made.
    package init(
        into store: FilePath, destination: DestinationModel?, options: ImportOptions,
        identifier: String, files: DurableFileSystem = DurableFileSystem()
    ) {
        self.store = store
        self.destination = destination
        self.options = options
        self.identifier = identifier
        self.files = files
    }

    /// Imports what is not imported yet.
    ///
    /// - Parameters:
    ///   - folder: the parts.
    ///   - scratch: an existing folder of our own.
    ///   - progress: called after each batch.
    /// - Returns: what this run did.
    /// - Throws: `ImportError`; all batches before the failure are kept.
    package func run(
        _ folder: PartFolder, scratch: FilePath,
        progress: @escaping (ImportProgress) -> Void = { _ in }
    ) throws(ImportError) -> ImportReport {
        try ImportError.translating {
            let isNew = try FileStatus.ifPresent(store) == nil
            guard !isNew || !folder.parts.isEmpty else { throw Self.noParts(folder) }
            if isNew { try make() }
            let target = try open(scratch: scratch)
            // Those of a finished import may have been removed.
            guard !folder.parts.isEmpty || !target.marker.isUnused else {
                throw Self.noParts(folder)
            }
            let finishedBefore = folder.parts.count { target.marker.isFinished($0.number) }
            var pass = ImportPass(
                target: target, folder: folder, options: options, files: files, progress: progress)
            try pass.run()
            try end(target, folder)
            return ImportReport(
                store: store.description, isNew: isNew, parts: folder.parts.count,
                finishedBefore: finishedBefore, counts: target.writer.counts,
                removedParts: pass.removedParts, missingNumbers: folder.missingNumbers,
                otherFiles: folder.others)
        }
    }

    private static func noParts(_ folder: PartFolder) -> ImportError {
        .parts(path: folder.path.description, reason: "it has no part, such as 0001.jsonl")
    }

    private func make() throws {
        guard let destination else {
            throw ImportError.noModel(store: store.description)
        }
        // A log would be taken for the new store's.
        for companion in StoreLocation(store).companions {
            guard try FileStatus.ifPresent(companion) == nil else {
                throw ImportError.parts(
                    path: companion.description,
                    reason: "it belongs to a store that is gone; move it away, or put the store "
                        + "back")
            }
        }
        let layout = try StoreLayout(
            model: destination.model,
            framework: destination.framework(asked: nil, source: .newestVerified))
        let schema = try ImportSchema(layout, keys: options.keys, store: store.description)
        try NewStore.make(
            at: store, destination, identifier: identifier, schema,
            ImportMarker(keys: options.keys), files)
    }

    private func open(scratch: FilePath) throws -> ImportedStore {
        let status = try FileStatus(of: store)
        guard status.isRegularFile else {
            throw ImportError.refused(
                store: store.description, reason: "it is \(status.kind), not a file")
        }
        return try ImportedStore(
            try checked(scratch: scratch), destination: destination, keys: options.keys)
    }

    /// Opens the store for reading, before anything is written.
    private func checked(scratch: FilePath) throws -> SourceStore {
        do {
            let source = try StoreOpener(files: files).open(
                StoreLocation(store), scratch: scratch, checksPages: false)
            // Once is enough for pages that only imports have written since.
            if try ImportMarker(source.metadata, store: store.description) == nil {
                try StoreOpener.checkPages(of: source)
            }
            return source
        } catch StoreError.notAStore(_, let reason) {
            throw ImportError.refused(store: store.description, reason: reason)
        }
    }

    /// Links what waited, brings the store into the shape that its model demands, and says what is
    /// missing.
    private func end(_ target: ImportedStore, _ folder: PartFolder) throws {
        try target.linkPending(batch: options.batchObjects)
        let waiting = try target.pending.count()
        let first = waiting > 0 ? try target.pending.next(after: 0, limit: 1).first : nil
        try target.finish()
        let faults = try ModelRules(schema: target.schema, connection: target.connection).faults()
        try target.close(dropsPending: waiting == 0)
        if let first {
            let entity = target.schema.byNumber[first.source.entity]?.name ?? "an object"
            throw ImportError.unresolved(
                store: store.description, count: waiting,
                first: "\(entity).\(first.relationship) in part \(first.part), line \(first.line)")
        }
        guard faults.isEmpty else {
            throw ImportError.incomplete(store: store.description, faults: faults)
        }
    }
}

/// One walk over the parts of a folder.
private struct ImportPass {
    let target: ImportedStore
    let folder: PartFolder
    let options: ImportOptions
    let files: DurableFileSystem
    let progress: (ImportProgress) -> Void
    private(set) var removedParts = 0
    private var finishedParts = 0
    /// Of parts that this run has finished.
    private var readBytes: Int64 = 0
    /// Of parts that it has to import.
    private var allBytes: Int64 = 0

    init(
        target: ImportedStore, folder: PartFolder, options: ImportOptions,
        files: DurableFileSystem, progress: @escaping (ImportProgress) -> Void
    ) {
        self.target = target
        self.folder = folder
        self.options = options
        self.files = files
        self.progress = progress
    }

    mutating func run() throws {
        if let current = target.marker.current,
            !folder.parts.contains(where: { $0.number == current.part })
        {
            throw ImportError.parts(
                path: folder.path.description,
                reason: "part \(current.part) is missing, but \(current.position.lines) of its "
                    + "lines are already imported; put it back")
        }
        for part in folder.parts {
            guard let finished = target.marker.finished[part.number] else { continue }
            try check(part, finished)
            finishedParts += 1
            // A killed run may have finished it.
            if options.removesParts { try remove(part) }
        }
        // A part that is imported in part comes first, whatever its number.
        var left = folder.parts.filter { !target.marker.isFinished($0.number) }
        if let place = left.firstIndex(where: { target.marker.position(in: $0.number) != nil }) {
            left.insert(left.remove(at: place), at: 0)
        }
        allBytes = left.reduce(0) { $0 + $1.size }
        let reading = ObjectReading(
            store: target.path.description, schema: target.schema, options: options, files: files)
        try reading.run(
            left.map { (part: $0, position: target.marker.position(in: $0.number)) }
        ) { try write($0) }
    }

    /// Refuses a file that is not the one that was imported under its number.
    private func check(_ part: ImportPart, _ finished: ImportMarker.Finished) throws {
        guard part.size == finished.size else {
            throw ImportError.otherPart(path: part.path.description, number: part.number)
        }
        let found = try ContentDigest.hexadecimal(of: part.path, files: files)
        guard ImportMarker.Finished(size: found.bytes, digest: found.digest) == finished else {
            throw ImportError.otherPart(path: part.path.description, number: part.number)
        }
    }

    private mutating func write(_ batch: ObjectBatch) throws {
        try target.write(batch)
        if batch.isLast {
            readBytes += batch.part.size
            finishedParts += 1
            if options.removesParts { try remove(batch.part) }
        }
        progress(
            ImportProgress(
                finishedParts: finishedParts, parts: folder.parts.count,
                counts: target.writer.counts,
                bytes: readBytes + (batch.isLast ? 0 : batch.end.offset),
                allBytes: allBytes))
    }

    private mutating func remove(_ part: ImportPart) throws {
        try files.remove(part.path)
        removedParts += 1
    }
}
