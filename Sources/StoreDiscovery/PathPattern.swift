import DurableFiles

/// A glob pattern for paths below a folder.
///
/// Names are matched one by one (`NamePattern`), so `*` never crosses a slash; `**` as a whole
/// name stands for any number of folders, at the end for everything below. A pattern of one name
/// holds at every depth; a slash before it, or one inside, binds it to the folder. A slash at
/// the end asks for a folder. What a pattern says of a folder it says of everything in it.
struct PathPattern: Hashable, Sendable {
    private enum Component: Hashable, Sendable {
        case anyFolders
        case name(NamePattern)
    }

    private let components: [Component]
    /// Whether it stands for folders alone.
    let wantsFolder: Bool

    /// The longest pattern in bytes: that of a path (PATH_MAX less the terminator).
    static let limit = RootedPath.pathLimit

    /// Reads a pattern.
    ///
    /// - Throws: `DurableFileError.refusedPath` for one that is empty or too long.
    init(_ pattern: FilePath) throws(DurableFileError) {
        guard pattern.bytes.count <= PathPattern.limit else {
            throw .refusedPath(
                pattern, reason: "a pattern has at most \(PathPattern.limit) bytes")
        }
        let names = pattern.components
        guard !names.isEmpty else { throw .refusedPath(pattern, reason: "it is not a pattern") }
        wantsFolder = pattern.bytes.last == UInt8(ascii: "/")
        var components = names.map { name -> Component in
            name.elementsEqual("**".utf8) ? .anyFolders : .name(NamePattern(name))
        }
        // Everything below a folder is not the folder itself.
        if components.last == .anyFolders { components.append(.name(NamePattern("*".utf8))) }
        let isBound = pattern.isAbsolute || names.count > 1
        self.components = isBound ? components : [.anyFolders] + components
    }

    /// The places in the pattern that a path has come to, in ascending order.
    typealias Places = [Int]

    /// The places before the first name.
    var start: Places { closed([0]) }

    /// The places after one more name of a path.
    ///
    /// - Parameters:
    ///   - name: as `NamePattern.units(of:)` gives it.
    ///   - places: those after the names before.
    /// - Returns: none where no path that begins so can match.
    func advance(over name: [UInt32], from places: Places) -> Places {
        var next: Places = []
        for place in places where place < components.count {
            switch components[place] {
            case .anyFolders: next.append(place)
            case .name(let pattern): if pattern.matches(name) { next.append(place + 1) }
            }
        }
        return closed(next)
    }

    /// Whether the names so far are a path that the pattern stands for.
    func isComplete(_ places: Places) -> Bool { places.last == components.count }

    /// Whether more names can make such a path.
    func canGoOn(_ places: Places) -> Bool { places.contains { $0 < components.count } }

    /// Any number of folders may be none.
    private func closed(_ places: Places) -> Places {
        var all: Set<Int> = []
        for var place in places {
            all.insert(place)
            while place < components.count, components[place] == .anyFolders {
                place += 1
                all.insert(place)
            }
        }
        return all.sorted()
    }
}
