// Feeds XML to the reader of models, and what it reads to everything that works on a model
// without hashing it. Bytes that begin with `?` are read as the text of a predicate instead.
import ManagedObjectModel

@_cdecl("LLVMFuzzerTestOneInput")
package func fuzzXML(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if bytes.first == UInt8(ascii: "?") {
        let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
        let predicate = PredicateParser.parse(text)
        if case .unsupported = predicate { return 0 }
        // What is understood is written in a way that is understood alike.
        precondition(PredicateParser.parse(predicate.text).text == predicate.text)
        return 0
    }
    guard let model = try? XMLModelReader.read(bytes) else { return 0 }
    precondition(ModelDiff(from: model, to: model).isEmpty)
    precondition(!ModelSummary(model).text.isEmpty)
    if let empty = try? Model(entities: []) {
        precondition(ModelDiff(from: empty, to: model).lines.count >= model.entities.count)
        precondition(ModelDiff(from: model, to: empty).lines.count >= model.entities.count)
    }
    return 0
}
