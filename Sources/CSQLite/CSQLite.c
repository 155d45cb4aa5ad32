#include "CSQLite.h"

#include <stddef.h>
#include <string.h>

int godwit_sqlite_configure(void) {
    int code = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (code == SQLITE_OK) code = sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 1200, 160);
    return code == SQLITE_OK ? sqlite3_config(SQLITE_CONFIG_URI, 1) : code;
}

int godwit_sqlite_harden(sqlite3 *connection, int defensive) {
    static const int off[] = {
        SQLITE_DBCONFIG_ENABLE_TRIGGER,
        SQLITE_DBCONFIG_ENABLE_VIEW,
        SQLITE_DBCONFIG_TRUSTED_SCHEMA,
        SQLITE_DBCONFIG_DQS_DML,
        SQLITE_DBCONFIG_DQS_DDL,
        SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
    };
    int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, defensive, NULL);
    for (size_t i = 0; code == SQLITE_OK && i < sizeof off / sizeof off[0]; i++) {
        code = sqlite3_db_config(connection, off[i], 0, NULL);
    }
    return code;
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
