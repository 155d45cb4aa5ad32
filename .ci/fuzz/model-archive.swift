import ManagedObjectModel

/// Model archives: a model that is read can be walked, and its archive reads back to the same
/// bytes where it can be written.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzModelArchive(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let model = try? ModelArchive.read(bytes) else { return 0 }
    precondition(model.numberedEntities.count == model.entities.count, "an entity got lost")
    precondition(VersionHashes(model).entities.count == model.entities.count, "a hash is missing")
    guard let written = try? ModelArchive.write(model) else { return 0 }
    guard let again = try? ModelArchive.read(written) else {
        fatalError("what was written cannot be read")
    }
    precondition((try? ModelArchive.write(again)) == written, "a model changed on its way")
    return 0
}
