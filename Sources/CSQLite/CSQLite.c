#include "CSQLite.h"

#include <stddef.h>

int godwit_sqlite_enable_uri(void) {
    return sqlite3_config(SQLITE_CONFIG_URI, 1);
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
