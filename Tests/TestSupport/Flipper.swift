import Foundation
import Glibc
import Synchronization

/// A user who puts a symbolic link in the place of a file or a folder and takes it away again, in
/// turns and without pause.
package final class Flipper: Sendable {
    private let isStopped = Atomic(false)
    private let hasEnded = Mutex(false)
    private let ended = NSCondition()
    private let count = Atomic(0)

    /// How often the link was there.
    package var flips: Int { count.load(ordering: .relaxed) }

    /// Begins at once.
    ///
    /// - Parameters:
    ///   - place: the file or folder that goes aside and comes back.
    ///   - target: where the link leads.
    package init(_ place: String, to target: String) {
        let thread = Thread { [self] in
            let aside = place + ".aside"
            while !isStopped.load(ordering: .relaxed) {
                // Any of these may fail: the program under test moves the same names.
                _ = rename(place, aside)
                if symlink(target, place) == 0 { count.add(1, ordering: .relaxed) }
                removeLink(place)
                giveBack(aside, place)
            }
            ended.lock()
            hasEnded.withLock { $0 = true }
            ended.broadcast()
            ended.unlock()
        }
        thread.start()
    }

    private func removeLink(_ place: String) {
        var status = stat()
        guard lstat(place, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return }
        _ = unlink(place)
    }

    private func giveBack(_ aside: String, _ place: String) {
        var status = stat()
        // A plain rename would replace what the program under test has put there since.
        guard lstat(place, &status) != 0 else { return }
        _ = rename(aside, place)
    }

    /// Ends it; the file or folder is back, unless something else has its name.
    package func stop() {
        isStopped.store(true, ordering: .relaxed)
        ended.lock()
        while !hasEnded.withLock({ $0 }) { ended.wait() }
        ended.unlock()
    }
}
