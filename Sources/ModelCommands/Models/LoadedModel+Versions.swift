import ManagedObjectModel
import MappingInference
import MappingModel
package import MigrationPlans
import ModelFiles

extension LoadedModel {
    /// Versions of the bundle that are newer than the model; none where it comes from no bundle.
    package func newerVersions() -> NewerVersions {
        guard let reader else { return NewerVersions() }
        let own = hashes.digest
        let names = reader.bundle.newer.compactMap { name in
            reader.version(name).map { ($0.hashes.digest, name) }
        }
        return NewerVersions(
            Dictionary(
                names.filter { $0.0 != own },
                uniquingKeysWith: { VersionOrder.sorted([$0, $1])[0] }))
    }

    /// Names of all versions of the bundle that can be read, by the digests of their hashes; nil
    /// where the model comes from no bundle.
    ///
    /// Of versions with equal hashes the chosen one counts, else the last one.
    ///
    /// - Complexity: reads every version.
    package func versionNames() -> [String: String]? {
        guard let reader else { return nil }
        var names = Dictionary(
            reader.bundle.names.compactMap(reader.version).map { ($0.hashes.digest, $0.name) },
            uniquingKeysWith: { $1 })
        names[hashes.digest] = reader.bundle.chosen
        return names
    }

    /// What versions in between rename and a migration to the model in one step loses, for each
    /// older version of the bundle.
    ///
    /// - Returns: the renames by version.
    /// - Complexity: reads every older version; three inferences for each pair of a version and a
    ///   later one that renames something which the version has and the destination has not.
    package func intermediateRenames() -> IntermediateRenames {
        guard let reader else { return IntermediateRenames() }
        let versions = reader.bundle
        let limit = versions.names.firstIndex(of: versions.chosen) ?? 0
        // Without a version in between there is nothing to go through.
        guard limit > 1 else { return IntermediateRenames() }
        let known = versions.names[..<limit].compactMap(reader.version)
        let destination = IntermediateRenameSearch.Version(name: versions.chosen, model: model)
        let inferences = InferenceMemo()
        var renames: [String: [String: IntermediateRename]] = [:]
        // The later versions that rename something, in their order.
        var later: [(version: IntermediateRenameSearch.Version, identifiers: Set<String>)] = []
        for version in known.reversed() {
            let source = IntermediateRenameSearch.Version(name: version.name, model: version.model)
            // Stores of the current version go to no other.
            if !later.isEmpty, version.name != versions.current {
                let search = IntermediateRenameSearch(
                    from: source, to: destination, infer: inferences.inference)
                let found = search.renames(through: later)
                if !found.isEmpty { renames[version.hashes.digest] = found }
            }
            let identifiers = source.identifiers(notRepeatedBy: destination)
            if !identifiers.isEmpty { later.insert((source, identifiers), at: 0) }
        }
        return IntermediateRenames(renames)
    }
}

/// Inferences between versions of a bundle, each made once.
private final class InferenceMemo {
    private var made: [[String]: Inference?] = [:]

    /// The mapping between two versions; nil where none can be inferred.
    func inference(
        _ left: IntermediateRenameSearch.Version, _ right: IntermediateRenameSearch.Version
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
