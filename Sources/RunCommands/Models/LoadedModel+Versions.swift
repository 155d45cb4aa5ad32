import ManagedObjectModel
import MappingModel
import MigrationPlanning
import ModelFiles

extension LoadedModel {
    /// Reads a version of a bundle; nil for one that cannot be read, which has no stores.
    typealias VersionReader = (String) -> BundleVersions.Version?

    /// Versions of the bundle that are newer than the model; none where it comes from no bundle.
    func newerVersions() -> NewerVersions {
        guard let versions else { return NewerVersions() }
        let own = hashes.digest
        let read = LoadedModel.reader(of: versions)
        let names = versions.newer.compactMap { name in
            read(name).map { ($0.hashes.digest, name) }
        }
        return NewerVersions(
            Dictionary(
                names.filter { $0.0 != own },
                uniquingKeysWith: { VersionOrder.sorted([$0, $1])[0] }))
    }

    /// What versions in between rename and a migration to the model in one step loses, for each
    /// older version of the bundle.
    ///
    /// - Parameter read: reads versions; nil reads their files.
    /// - Returns: the renames by version.
    /// - Complexity: reads every older version; O(versions × entities × properties) where a
    ///   version in between renames something.
    func intermediateRenames(read: VersionReader? = nil) -> IntermediateRenames {
        guard let versions else { return IntermediateRenames() }
        let limit = versions.names.firstIndex(of: versions.chosen) ?? 0
        // Without a version in between there is nothing to go through.
        guard limit > 1 else { return IntermediateRenames() }
        let known = versions.names[..<limit]
            .compactMap(read ?? LoadedModel.reader(of: versions))
        let trail = known.map { RenameTrail.Version(name: $0.name, model: $0.model) }
        let destination = RenameTrail.Version(name: versions.chosen, model: model)
        var inferences = InferenceMemo()
        var renames: [String: [String: IntermediateRename]] = [:]
        for (place, version) in known.enumerated().dropLast() {
            let found = RenameTrail.renames(
                from: trail[place], through: trail[(place + 1)...], to: destination,
                infer: { inferences.inference($0, $1) })
            if !found.isEmpty { renames[version.hashes.digest] = found }
        }
        return IntermediateRenames(renames)
    }

    private static func reader(of versions: BundleVersions) -> VersionReader {
        { name in
            do throws(ModelError) {
                return try versions.read(name)
            } catch {
                return nil
            }
        }
    }
}

/// Inferences between versions of a bundle, each made once.
private struct InferenceMemo {
    private var made: [[String]: Inference?] = [:]

    /// The mapping between two versions; nil where none can be inferred.
    mutating func inference(
        _ left: RenameTrail.Version, _ right: RenameTrail.Version
    ) -> Inference? {
        let key = [left.name, right.name]
        if let known = made[key] { return known }
        let inference: Inference?
        do throws(InferenceError) {
            inference = try Inference(from: left.model, to: right.model)
        } catch {
            inference = nil
        }
        made[key] = .some(inference)
        return inference
    }
}
