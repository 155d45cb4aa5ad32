import Glibc

/// How much a terminal shows.
package struct TerminalSize: Hashable, Sendable {
    var columns: Int
    var rows: Int

    /// What the first terminals had: taken where nothing is known.
    static let standard = TerminalSize(columns: 80, rows: 24)

    /// That of the terminal at standard error, as it is now.
    static var current: TerminalSize {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
        else { return standard }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}
