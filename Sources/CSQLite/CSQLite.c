#include "CSQLite.h"

#include "Budget.h"
#include "Confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

// Calls that failed for want of room, in the whole process: SQLite sorts with threads of its own.
static atomic_long room_failures;

static ssize_t noting_room(ssize_t result) {
    if (result < 0 && (errno == ENOSPC || errno == EDQUOT)) atomic_fetch_add(&room_failures, 1);
    return result;
}

static ssize_t noting_bytes(ssize_t result) {
    if (result > 0) godwit_sqlite_wrote(result);
    return noting_room(result);
}

static ssize_t noting_write(int file, const void *bytes, size_t count) {
    return noting_bytes(write(file, bytes, count));
}

static ssize_t noting_write_at(int file, const void *bytes, size_t count, off_t offset) {
    return noting_bytes(pwrite(file, bytes, count, offset));
}

// Cutting and removing change what a copying file system keeps of a file, which takes room, too.
static int noting_truncate(int file, off_t size) {
    return (int)noting_room(ftruncate(file, size));
}

static int noting_unlink(const char *path) {
    return (int)noting_room(godwit_confined_unlink(path));
}

static int noting_open(const char *path, int flags, int mode) {
    return (int)noting_room(godwit_confined_open(path, flags, mode));
}

static void note_room(void) {
    static const struct {
        const char *name;
        sqlite3_syscall_ptr call;
    } calls[] = {
        {"write", (sqlite3_syscall_ptr)noting_write},
        {"pwrite", (sqlite3_syscall_ptr)noting_write_at},
        {"pwrite64", (sqlite3_syscall_ptr)noting_write_at},
        {"ftruncate", (sqlite3_syscall_ptr)noting_truncate},
        {"unlink", (sqlite3_syscall_ptr)noting_unlink},
        {"open", (sqlite3_syscall_ptr)noting_open},
        {"lstat", (sqlite3_syscall_ptr)godwit_confined_lstat},
    };
    static const char *const layers[] = {"unix", "unix-none"};
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        sqlite3_vfs *layer = sqlite3_vfs_find(layers[i]);
        if (layer == NULL || layer->iVersion < 3 || layer->xSetSystemCall == NULL) continue;
        for (size_t j = 0; j < sizeof calls / sizeof calls[0]; j++) {
            // Which of them SQLite calls was decided when it was compiled.
            if (layer->xGetSystemCall(layer, calls[j].name) == NULL) continue;
            layer->xSetSystemCall(layer, calls[j].name, calls[j].call);
        }
    }
}

long godwit_sqlite_room_failures(void) { return atomic_load(&room_failures); }

static int configured = SQLITE_MISUSE;

// When the program is loaded, before anything can have started SQLite, which takes no configuration
// afterwards: what a file of a stranger may take would have no bounds then.
__attribute__((constructor)) static void configure(void) {
    configured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (configured == SQLITE_OK) configured = godwit_sqlite_count_memory();
    if (configured == SQLITE_OK) configured = sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 1200, 160);
    if (configured == SQLITE_OK) configured = sqlite3_config(SQLITE_CONFIG_URI, 1);
}

int godwit_sqlite_configure(int64_t memory) {
    if (configured != SQLITE_OK) return configured;
    godwit_sqlite_limit_memory(memory);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, note_room);
    return godwit_sqlite_bound_openings();
}

int godwit_sqlite_harden(sqlite3 *connection, int is_made) {
    static const int off[] = {
        SQLITE_DBCONFIG_ENABLE_TRIGGER,
        SQLITE_DBCONFIG_ENABLE_VIEW,
        SQLITE_DBCONFIG_DQS_DML,
        SQLITE_DBCONFIG_DQS_DDL,
        SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
    };
    int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, !is_made, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, is_made, NULL);
    }
    for (size_t i = 0; code == SQLITE_OK && i < sizeof off / sizeof off[0]; i++) {
        code = sqlite3_db_config(connection, off[i], 0, NULL);
    }
    return code;
}

int godwit_sqlite_edit_schema(sqlite3 *connection, int allows) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_WRITABLE_SCHEMA, allows, NULL);
}

int godwit_sqlite_keep_log(sqlite3 *connection, int keeps) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, NULL);
}

static int compare_bytes(
    void *unused, int left_count, const void *left, int right_count, const void *right) {
    (void)unused;
    int count = left_count < right_count ? left_count : right_count;
    int order = count == 0 ? 0 : memcmp(left, right, (size_t)count);
    return order != 0 ? order : (left_count > right_count) - (left_count < right_count);
}

static void provide_collation(
    void *unused, sqlite3 *connection, int representation, const char *name) {
    (void)unused;
    (void)representation;
    sqlite3_create_collation_v2(connection, name, SQLITE_UTF8, NULL, compare_bytes, NULL);
}

int godwit_sqlite_stand_in_for_collations(sqlite3 *connection) {
    return sqlite3_collation_needed(connection, NULL, provide_collation);
}

int godwit_sqlite_set_temporary_folder(const char *path) {
    int code = sqlite3_initialize();
    if (code != SQLITE_OK || sqlite3_temp_directory != NULL) return code;
    sqlite3_temp_directory = sqlite3_mprintf("%s", path);
    return sqlite3_temp_directory == NULL ? SQLITE_NOMEM : SQLITE_OK;
}
