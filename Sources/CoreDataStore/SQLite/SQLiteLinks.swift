import CSQLite

/// What SQLite does about symbolic links in the paths that it opens.
package enum SQLiteLinks {
    /// Makes every later opening in this process refuse a path that holds a link.
    ///
    /// For processes that work below folders in which others may make links: they resolve paths
    /// once, and a link that is put there afterwards must not lead them elsewhere.
    package static func refuse() { godwit_sqlite_refuse_links() }
}
