import ArgumentParser

/// Where a coordinator listens, as far as the command line has to judge it.
package struct CoordinatorEndpoint: Hashable, Sendable {
    /// Who can read what goes over a connection.
    package enum Reach: Hashable, Sendable {
        /// A socket in the file system.
        case file
        /// This machine's own network.
        case loopback
        case network
    }

    let text: String
    package let reach: Reach

    /// Takes `tcp://HOST:PORT` or `ipc://PATH`; nil for anything else.
    package init?(_ text: String) {
        if text.hasPrefix("ipc:///") {
            reach = .file
        } else if text.hasPrefix("tcp://") {
            let rest = text.dropFirst("tcp://".count)
            guard let colon = rest.lastIndex(of: ":"), colon != rest.startIndex,
                let port = UInt16(rest[rest.index(after: colon)...]), port > 0
            else { return nil }
            reach = Self.isLoopback(rest[..<colon]) ? .loopback : .network
        } else {
            return nil
        }
        self.text = text
    }

    private static func isLoopback(_ host: Substring) -> Bool {
        if host == "localhost" || host == "[::1]" { return true }
        // A name may begin with 127, too.
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Refuses messages in the clear where others could read them.
    ///
    /// - Parameter isAllowed: whether the command line allows them on this machine.
    /// - Throws: `ValidationError`.
    package func checkPlain(isAllowed: Bool) throws {
        switch reach {
        case .file: return
        case .loopback where isAllowed: return
        case .loopback:
            throw ValidationError("use --keys FOLDER, or --plain to connect unencrypted")
        case .network:
            throw ValidationError(
                "\(text) is not this machine: use --keys FOLDER. Unencrypted connections are "
                    + "allowed only on this machine")
        }
    }
}
