package import ClusterVocabulary
package import DurableFiles

/// What a run on one machine takes from the process around it.
package struct LocalPlace: Sendable {
    /// An existing folder in which sockets get folders of their own; its path is short enough for
    /// the address of a socket (unix(7)): at most 60 bytes.
    package let sockets: FilePath
    /// Milliseconds that never go back.
    package let milliseconds: @Sendable () -> Int64
    /// A random number.
    package let number: @Sendable () -> UInt64
    /// Takes what is to be called when the process is asked to end; nil lets a signal end it.
    package let interruption: @Sendable ((@Sendable () -> Void)?) -> Void
    /// Makes a folder that is also removed where a signal ends the process.
    package let makeFolder: @Sendable (FilePath) throws(DurableFileError) -> Void
    /// Removes such a folder.
    package let removeFolder: @Sendable (FilePath) throws(DurableFileError) -> Void

    /// - Parameters: see the properties; without the last three nothing asks for the end, and a
    ///   signal leaves the folder.
    package init(
        sockets: FilePath, milliseconds: @escaping @Sendable () -> Int64,
        number: @escaping @Sendable () -> UInt64,
        interruption: @escaping @Sendable ((@Sendable () -> Void)?) -> Void = { _ in },
        makeFolder: @escaping @Sendable (FilePath) throws(DurableFileError) -> Void = {
            folder throws(DurableFileError) in try DurableFileSystem().makeFolder(folder)
        },
        removeFolder: @escaping @Sendable (FilePath) throws(DurableFileError) -> Void = {
            folder throws(DurableFileError) in try DurableFileSystem().removeTree(folder)
        }
    ) {
        self.sockets = sockets
        self.milliseconds = milliseconds
        self.number = number
        self.interruption = interruption
        self.makeFolder = makeFolder
        self.removeFolder = removeFolder
    }
}

/// How long things take and are waited for, in milliseconds.
package struct LocalTimes: Sendable {
    /// Between two tries of a run that waits for disk space.
    package var spaceRetry = 5000
    /// Between two tries of a job or a task.
    package var backoff = Backoff(first: 200, longest: 20_000)
    /// Between two reports of a job's progress.
    package var report = 1000

    /// Slots whose processes end before the first job, one after the other, before the run ends.
    static let mostFailedStarts = 20

    package init() {}
}

/// A folder for a socket, which no other user may open.
enum SocketFolder {
    /// Makes the folder for the time of a body.
    ///
    /// - Parameters:
    ///   - place: where it is made.
    ///   - body: gets the socket's path.
    /// - Returns: what the body returns.
    /// - Throws: `DurableFileError` where the folder cannot be made, and what the body throws.
    static func with<Result>(
        _ place: LocalPlace, _ body: (FilePath) throws -> Result
    ) throws -> Result {
        let name = "godwit-\(String(place.number(), radix: 16))"
        let folder = place.sockets.appending(FilePath(name))
        try place.makeFolder(folder)
        let result = Swift.Result { try body(folder.appending(FilePath("socket"))) }
        do throws(DurableFileError) {
            try place.removeFolder(folder)
        } catch {
            if case .success = result { throw error }
        }
        return try result.get()
    }
}
