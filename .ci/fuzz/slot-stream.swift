/// The stream between a worker and a slot: however its bytes arrive, the same messages and the
/// same error come out. The first byte says how many bytes arrive at a time.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSlotStream(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = bytes.first else { return 0 }
    let stream = bytes.dropFirst()
    let step = Int(first) + 1
    precondition(
        read(stream, step, SlotOrder.self) == read(stream, stream.count, SlotOrder.self),
        "orders depend on how they arrive")
    precondition(
        read(stream, step, SlotReport.self) == read(stream, stream.count, SlotReport.self),
        "reports depend on how they arrive")
    return 0
}

private struct Outcome<Received: ControlMessage>: Equatable {
    var messages: [Received] = []
    var error: ProtocolError?
    var isBetweenMessages = true
}

private func read<Received: ControlMessage>(
    _ stream: ArraySlice<UInt8>, _ step: Int, _ type: Received.Type
) -> Outcome<Received> {
    var outcome = Outcome<Received>()
    var reader = SlotCodec.Reader<Received>()
    var rest = stream
    do throws(ProtocolError) {
        while !rest.isEmpty {
            reader.append(rest.prefix(step))
            rest = rest.dropFirst(step)
            while let message = try reader.next() { outcome.messages.append(message) }
        }
        outcome.isBetweenMessages = reader.isBetweenMessages
    } catch {
        outcome.error = error
    }
    return outcome
}
