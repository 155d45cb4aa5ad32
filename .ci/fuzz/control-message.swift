/// Frames of the control channel: what is decoded lies within the bounds, can be sent on, and
/// means the same then.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzControlMessage(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let frame = Array(UnsafeBufferPointer(start: start, count: count))
    tryDirection(WorkerMessage.self, frame)
    tryDirection(CoordinatorMessage.self, frame)
    tryDirection(ClientRequest.self, frame)
    tryDirection(ClientReply.self, frame)
    return 0
}

private func tryDirection<Received: ControlMessage>(_ type: Received.Type, _ frame: [UInt8]) {
    let codec = MessageCodec()
    guard let message = try? codec.decode(frame, as: type) else { return }
    guard let written = try? codec.encode(message) else {
        fatalError("what was read cannot be sent")
    }
    guard let again = try? codec.decode(written, as: type) else {
        fatalError("what was sent cannot be read")
    }
    precondition(again == message, "a message changed on its way")
    precondition((try? codec.encode(again)) == written, "equal messages have other bytes")
}
