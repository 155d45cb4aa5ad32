import Synchronization
import Threads

/// Runs two bodies at once.
enum Meanwhile {
    private final class Box<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    /// What is handed to the thread, which alone uses it.
    private struct Handed<Value>: @unchecked Sendable {
        let body: () throws -> Value
    }

    /// Runs the first body on a thread of its own while the second runs here.
    ///
    /// - Throws: what the second throws.
    static func run<Value: Sendable>(
        _ body: @escaping () throws -> Value, _ meanwhile: () throws -> Void
    ) throws -> Result<Value, any Error> {
        let box = Box<Value>()
        let handed = Handed(body: body)
        let thread = try OwnedThread(name: "meanwhile") {
            let result = Result { try handed.body() }
            box.result.withLock { $0 = result }
        }
        let outcome = Result { try meanwhile() }
        thread.join()
        try outcome.get()
        return box.result.withLock { $0 ?? .failure(Unheard(description: "an end")) }
    }
}
