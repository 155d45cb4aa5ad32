package import Jobs

/// The file of a routing pass: for each of its lists a table with the keys of that list's rows.
package enum RouteFile {
    /// The name of a route's file beside its plan.
    package static func reference(_ plan: FileReference, _ route: Int) -> FileReference {
        FileReference(root: plan.root, path: plan.path + ".route-\(route)")
    }

    /// The table of a list.
    package static func table(of list: Int) -> String { "keys_\(list)" }
}
