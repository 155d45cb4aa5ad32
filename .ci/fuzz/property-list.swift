/// Property lists: whatever is read can be written, and reads back to the same bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPropertyList(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let value = try? BinaryPropertyList.read(bytes) else { return 0 }
    let written = BinaryPropertyList.write(value)
    guard let again = try? BinaryPropertyList.read(written) else {
        fatalError("what was written cannot be read")
    }
    precondition(BinaryPropertyList.write(again) == written, "a value changed on its way")
    return 0
}
