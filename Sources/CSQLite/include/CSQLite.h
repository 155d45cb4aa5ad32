#ifndef GODWIT_CSQLITE_H
#define GODWIT_CSQLITE_H

#include <sqlite3.h>

/// Lets every connection understand `file:` names, and leaves out statistics of memory, whose lock
/// all threads of the process would wait for at every allocation; small allocations have room
/// enough beside a connection that most do not reach malloc. Writes are watched for want of room.
/// To be called before the first
/// connection is opened; returns an SQLite result code (SQLITE_MISUSE when SQLite is running
/// already, which does no harm where names are enabled at compile time).
int godwit_sqlite_configure(void);

/// Makes a connection safe for files of strangers: no triggers, no views, no trusted schema, no
/// double-quoted strings, no extensions, and, where `defensive` is not 0, defensive mode, which
/// also forbids to switch the journal off. Returns an SQLite result code.
int godwit_sqlite_harden(sqlite3 *connection, int defensive);

/// Lets a connection leave the write-ahead log as it is when it is closed (`keeps` not 0), or move
/// it into the database and remove it. Returns an SQLite result code.
int godwit_sqlite_keep_log(sqlite3 *connection, int keeps);

/// Makes SQLite put temporary files into a folder, unless one was set before: all connections of
/// the process read the text, which is never freed. To be called before others are open.
/// Returns an SQLite result code.
int godwit_sqlite_set_temporary_folder(const char *path);

/// How many of SQLite's calls the system has refused for want of room or quota so far, whatever
/// file they went to and whichever thread made them. SQLite tells of a quota as of any other input
/// and output error, and by then `errno` may be another call's.
long godwit_sqlite_room_failures(void);

/// Lets tables and indexes be read whose collations only the app has: such a collation compares
/// bytes here. Returns an SQLite result code.
int godwit_sqlite_stand_in_for_collations(sqlite3 *connection);

/// Makes SQLite in this process refuse every path that holds a symbolic link, from now on: the
/// system resolves it in the step that opens the file (openat2(2), RESOLVE_NO_SYMLINKS), so that no
/// link can be put there between a check and the use. Paths must have been resolved by then.
void godwit_sqlite_refuse_links(void);

#endif
