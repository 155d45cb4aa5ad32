import ManagedObjectModel
import MappingModel
package import MigrationPlanning
import ModelFiles

extension LoadedModel {
    /// Versions of the bundle that are newer than the model; none where it comes from no bundle.
    ///
    /// A version that cannot be read has no stores, and is left out.
    func newerVersions() -> NewerVersions {
        guard let versions else { return NewerVersions() }
        let own = hashes.digest
        let names = versions.newer.compactMap { name in
            read(name, of: versions).map { ($0.hashes.digest, name) }
        }
        return NewerVersions(
            Dictionary(
                names.filter { $0.0 != own },
                uniquingKeysWith: { VersionOrder.sorted([$0, $1])[0] }))
    }

    /// What versions in between rename and a migration to the model in one step loses, for each
    /// older version of the bundle.
    ///
    /// - Complexity: reads every older version; O(versions × entities × properties) where each
    ///   version can be inferred from the one before.
    package func intermediateRenames() -> IntermediateRenames {
        guard let versions else { return IntermediateRenames() }
        let limit = versions.names.firstIndex(of: versions.chosen) ?? 0
        // Without a version in between there is nothing to go through.
        guard limit > 1 else { return IntermediateRenames() }
        let known = versions.names[..<limit].compactMap { read($0, of: versions) }
        var memo: [String: Result<Inference, InferenceError>] = [:]
        var renames: [String: [String: IntermediateRename]] = [:]
        for (place, version) in known.enumerated().dropLast() {
            let between = known[(place + 1)...].map { (name: $0.name, model: $0.model) }
            guard let direct = inferred(from: version.model),
                let trail = RenameTrail(
                    from: (version.name, version.model), through: between,
                    to: (versions.chosen, model),
                    infer: { left, right throws(InferenceError) in
                        let key = "\(left.name)\n\(right.name)"
                        let made =
                            memo[key]
                            ?? Result { () throws(InferenceError) in
                                try Inference(from: left.model, to: right.model)
                            }
                        memo[key] = made
                        return try made.get()
                    })
            else { continue }
            renames[version.hashes.digest] = trail.renames(lostBy: direct.mapping)
        }
        return IntermediateRenames(renames)
    }

    private func inferred(from source: Model) -> Inference? {
        do throws(InferenceError) {
            return try Inference(from: source, to: model)
        } catch {
            return nil
        }
    }

    private func read(_ name: String, of versions: BundleVersions) -> BundleVersions.Version? {
        do throws(ModelError) {
            return try versions.read(name)
        } catch {
            return nil
        }
    }
}
