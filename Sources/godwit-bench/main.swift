import CoreDataStore
import DurableFiles
import Foundation
import LocalRun
import ManagedObjectModel
import MigrationEngine

// lines: store \t to \t output \t state \t strategy \t partition \t chunkBytes \t history \t allowMissing
func model(_ text: String, _ state: FilePath) throws -> DestinationChoice {
    if text == "self" { return .itself }
    if text.hasSuffix(".xcdatamodel") {
        return .model(try DestinationModel(model: XMLModelReader.read(URL(fileURLWithPath: text))))
    }
    if text.contains(".momd") {
        let parts = text.split(separator: ":").map(String.init)
        let m = try CompiledModel.read(momd: URL(fileURLWithPath: parts[0]), version: parts.count > 1 ? parts[1] : nil)
        return .model(try DestinationModel(model: m.model, storedHashes: m.storedHashes))
    }
    let scratch = state.appending("template")
    try DurableFileSystem().makeFolders(scratch)
    let store = try StoreOpener().open(FilePath(text), scratch: scratch)
    return .model(try DestinationModel(template: store))
}
let clock = ContinuousClock()
let start = clock.now
while let line = readLine() {
    let f = line.components(separatedBy: "\t")
    let state = FilePath(f[3])
    do {
        try DurableFileSystem().makeFolders(state)
        var options = PlanOptions(strategy: f[4] == "auto" ? nil : Strategy(rawValue: f[4]))
        let p = f[5].split(separator: ":").map(String.init)
        options.partition = switch p[0] {
        case "key": .key
        case "entity": .entity
        case "uuid": .uuid(p[1].split(separator: ",").map { a in let q = a.split(separator: "."); return PropertyKey(String(q[0]), String(q[1])) })
        default: .auto }
        options.chunkBytes = Int64(f[6]) ?? PlanOptions.standardChunkBytes
        options.history = HistoryPolicy(rawValue: f[7]) ?? .drop
        options.allowsMissingExternalData = f[8] == "1"
        if f.count > 9, let fw = Int(f[9]) { options.framework = FrameworkVersion(fw) }
        let request = MigrationRequest(
            store: FilePath(f[0]), output: FilePath(f[2]), state: state,
            destination: try model(f[1], state), options: options, slots: 2)
        let outcome = try LocalMigration(request, clock: { let d = clock.now - start; return Double(d.components.seconds) + Double(d.components.attoseconds) / 1e18 }).run()
        print("ok\t\(f[2])\t\(outcome.plan.chunks.count)\t\(outcome.plan.linkChunks.count)\t\(outcome.seconds.map { "\($0.key)=\(($0.value * 1000).rounded())" }.joined(separator: ","))\t\(outcome.plan.links.count)")
    } catch { print("FAIL\t\(f[2])\t\(error)") }
}
