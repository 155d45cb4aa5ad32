#ifndef GODWIT_CSQLITE_H
#define GODWIT_CSQLITE_H

#include <sqlite3.h>

/// Lets every connection understand `file:` names. To be called before the first connection is
/// opened; returns an SQLite result code (SQLITE_MISUSE when SQLite is running already, which
/// does no harm where names are enabled at compile time).
int godwit_sqlite_enable_uri(void);

/// Makes a connection safe for files of strangers: no triggers, no views, no trusted schema, no
/// double-quoted strings, no extensions, and, where `defensive` is not 0, defensive mode, which
/// also forbids to switch the journal off. Returns an SQLite result code.
int godwit_sqlite_harden(sqlite3 *connection, int defensive);

/// Lets tables and indexes be read whose collations only the app has: such a collation compares
/// bytes here. Returns an SQLite result code.
int godwit_sqlite_stand_in_for_collations(sqlite3 *connection);

#endif
