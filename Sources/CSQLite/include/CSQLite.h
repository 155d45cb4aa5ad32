#ifndef GODWIT_CSQLITE_H
#define GODWIT_CSQLITE_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

/// Bounds what files may take of connections that are opened afterwards. Writes are watched for
/// want of room. What SQLite has in this process for large values and buffers, of 64 KiB or more,
/// is limited to `memory` bytes: an allocation beyond that fails (SQLITE_NOMEM). A second call
/// changes the limit alone.
///
/// When the program was loaded, SQLite was told to understand `file:` names and to leave out
/// statistics of memory, whose lock all threads of the process would wait for at every allocation;
/// small allocations have room enough beside a connection that most do not reach malloc. Returns an
/// SQLite result code: SQLITE_MISUSE where SQLite was running before that.
int godwit_sqlite_configure(int64_t memory);

/// Makes a connection safe for files of strangers: no triggers, no views, no double-quoted strings,
/// no extensions. For a file that is not made here, no trusted schema and defensive mode, too,
/// which also forbids to switch the journal off; in one that is made here, the guard knows every
/// function of an object. Returns an SQLite result code.
int godwit_sqlite_harden(sqlite3 *connection, int is_made);

/// What the statements of one step may do beyond reading, transactions, and writing rows.
typedef enum {
    /// Nothing.
    godwit_sqlite_step_none,
    /// Any PRAGMA.
    godwit_sqlite_step_pragma,
    /// ATTACH, and the settings of what was attached.
    godwit_sqlite_step_attach,
    godwit_sqlite_step_detach,
    /// Make one schema object of this kind, with the name that the step was opened with.
    godwit_sqlite_step_create_table,
    godwit_sqlite_step_create_index,
    godwit_sqlite_step_create_trigger,
    godwit_sqlite_step_create_view,
    /// Make one virtual table of the modules `rtree` or `rtree_i32`, with the tables that the
    /// module keeps.
    godwit_sqlite_step_create_rtree,
    /// Drop the table with the name that the step was opened with.
    godwit_sqlite_step_drop_table,
    /// Drop the index with the name that the step was opened with.
    godwit_sqlite_step_drop_index,
    /// ANALYZE, and making SQLite's tables of statistics.
    godwit_sqlite_step_analyze,
    /// VACUUM, which attaches a temporary database by itself.
    godwit_sqlite_step_vacuum,
    /// Insert and delete rows of `sqlite_master`, in a file of our own.
    godwit_sqlite_step_edit_schema,
} godwit_sqlite_step;

/// Decides what the statements of one connection may do while SQLite compiles them.
typedef struct godwit_sqlite_guard godwit_sqlite_guard;

/// Puts a guard on a connection, in place of any other authorizer. A guard lets statements read,
/// call SQLite's own functions that reach nothing but their arguments, begin and end transactions,
/// and write rows of temporary tables and, where `writes_main` is not 0, of the main database. It
/// refuses everything else (SQLITE_AUTH) unless a step is open. Returns NULL without memory.
godwit_sqlite_guard *godwit_sqlite_guard_new(sqlite3 *connection, int writes_main);

/// Frees a guard. The connection must be closed, or have another authorizer or none.
void godwit_sqlite_guard_free(godwit_sqlite_guard *guard);

/// Opens a step; an open one ends. `name` and `table` are those of the schema object that the step
/// makes or drops, else NULL; `is_temporary` says in which schema. Returns SQLITE_NOMEM without
/// memory, and then no step is open.
int godwit_sqlite_guard_open(
    godwit_sqlite_guard *guard, godwit_sqlite_step step, const char *name, const char *table,
    int is_temporary);

/// Ends the step that is open.
void godwit_sqlite_guard_close(godwit_sqlite_guard *guard);

/// Lets the statements of a connection write `sqlite_master` (`allows` not 0), as far as its guard
/// does, or no longer. Returns an SQLite result code.
int godwit_sqlite_edit_schema(sqlite3 *connection, int allows);

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

/// How long the statements of a connection may run: what a stranger's file has SQLite do, by an
/// expression or by pages that lead to themselves, may have no end.
typedef struct godwit_sqlite_budget godwit_sqlite_budget;

/// A wish to stop what connections do. It is counted by those who keep it, and is never taken
/// back.
typedef struct godwit_sqlite_stop godwit_sqlite_stop;

/// Returns NULL without memory.
godwit_sqlite_stop *godwit_sqlite_stop_new(void);

/// Keeps a stop, or lets go of it; the last one frees it. NULL is allowed.
void godwit_sqlite_stop_retain(godwit_sqlite_stop *stop);
void godwit_sqlite_stop_release(godwit_sqlite_stop *stop);

/// Interrupts the statements of all connections with this stop, now and from now on, from any
/// thread: they end with SQLITE_INTERRUPT.
void godwit_sqlite_stop_set(godwit_sqlite_stop *stop);

/// Whether it was set; 0 for NULL.
int godwit_sqlite_stop_is_set(const godwit_sqlite_stop *stop);

/// Gives the connections that this thread opens from now on a stop; NULL gives them none.
/// Returns the former one. The caller keeps both.
godwit_sqlite_stop *godwit_sqlite_stop_enter(godwit_sqlite_stop *stop);

/// The stop of this thread; NULL for none.
godwit_sqlite_stop *godwit_sqlite_stop_current(void);

/// Has a stop reach the statements of a connection whose budget was made while this thread had one.
void godwit_sqlite_budget_connect(godwit_sqlite_budget *budget, sqlite3 *connection);

/// Whether the stop of the budget's connection was set.
int godwit_sqlite_budget_is_stopped(const godwit_sqlite_budget *budget);

/// Returns NULL without memory. The budget keeps the stop that this thread has.
godwit_sqlite_budget *godwit_sqlite_budget_new(void);

/// Ends the watch over a budget's connection, which is about to be closed.
void godwit_sqlite_budget_retire(godwit_sqlite_budget *budget);

/// Frees a budget, whose connection must be closed.
void godwit_sqlite_budget_free(godwit_sqlite_budget *budget);

/// Gives statements so many milliseconds from now on, together; 0 is no limit. A statement that
/// runs when they are spent ends with SQLITE_INTERRUPT.
void godwit_sqlite_budget_set(
    godwit_sqlite_budget *budget, sqlite3 *connection, int64_t limit);

/// Limits the bytes that those statements write, temporary files included; more ends one as spent
/// time does. 0, as after `godwit_sqlite_budget_set`, is no limit.
void godwit_sqlite_budget_set_room(godwit_sqlite_budget *budget, int64_t room);

/// Bounds what this thread opens from now on, as `godwit_sqlite_budget_set` does: to open a
/// database reads its schema. NULL ends that.
void godwit_sqlite_budget_open(godwit_sqlite_budget *budget, int64_t limit);

/// Says that a call of SQLite begins. What the caller does between a few calls of one thread is
/// counted with them.
void godwit_sqlite_budget_begin(godwit_sqlite_budget *budget);

/// Says that a call of SQLite has ended. Whether the budget is spent.
int godwit_sqlite_budget_end(godwit_sqlite_budget *budget);

/// sqlite3_step within a budget; SQLITE_INTERRUPT instead of a row where that is spent.
int godwit_sqlite_budget_step(godwit_sqlite_budget *budget, sqlite3_stmt *statement);

/// Counts the time until now; whether a limit is passed.
int godwit_sqlite_budget_is_spent(godwit_sqlite_budget *budget);

/// The milliseconds that were given; 0 for no limit.
int64_t godwit_sqlite_budget_limit(const godwit_sqlite_budget *budget);

/// Replaces functions of a connection whose time grows with the product of their arguments' lengths
/// by ones with the same results: instr, replace and trim by such whose time does not, like and
/// glob by such that end when the budget is spent. Limits compiled statements, too. Returns an
/// SQLite result code.
int godwit_sqlite_bound_functions(sqlite3 *connection, godwit_sqlite_budget *budget);

/// Confines SQLite in this process from now on. It opens and removes only databases that were
/// announced, the files beside them (`-journal`, `-wal`, `-shm`) and its own temporary files, and
/// it opens no path that holds a symbolic link: the system resolves it in the step that opens the
/// file (openat2(2), RESOLVE_NO_SYMLINKS), so that no link can be put there between a check and the
/// use.
void godwit_sqlite_confine(void);

/// Announces a database by the bytes of its absolute path; counted. Returns an SQLite result
/// code.
int godwit_sqlite_announce(const unsigned char *path, size_t length);

/// Takes one announcement back.
void godwit_sqlite_withdraw(const unsigned char *path, size_t length);

#endif
