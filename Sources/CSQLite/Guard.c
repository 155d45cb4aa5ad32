#include "CSQLite.h"

#include <stdlib.h>
#include <string.h>

struct godwit_sqlite_guard {
    int writes_main;
    godwit_sqlite_step step;
    // Of the object that the step makes or drops; NULL in other steps.
    char *name;
    char *table;
    int is_temporary;
};

// SQLite's own functions that read and write nothing but their arguments, in the order of strcmp.
// Missing on purpose: load_extension, fts3_tokenizer, and what shells and extensions add
// (readfile, writefile, edit).
static const char *const pure_functions[] = {
    "->", "->>", "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "avg", "ceil",
    "ceiling", "changes", "char", "coalesce", "concat", "concat_ws", "cos", "cosh", "count",
    "cume_dist", "current_date", "current_time", "current_timestamp", "date", "datetime",
    "degrees", "dense_rank", "exp", "first_value", "floor", "format", "glob", "group_concat",
    "hex", "if", "ifnull", "iif", "instr", "json", "json_array", "json_array_length",
    "json_error_position", "json_extract", "json_group_array", "json_group_object", "json_insert",
    "json_object", "json_patch", "json_pretty", "json_quote", "json_remove", "json_replace",
    "json_set", "json_type", "json_valid", "jsonb", "jsonb_array", "jsonb_extract",
    "jsonb_group_array", "jsonb_group_object", "jsonb_insert", "jsonb_object", "jsonb_patch",
    "jsonb_remove", "jsonb_replace", "jsonb_set", "julianday", "lag", "last_insert_rowid",
    "last_value", "lead", "length", "like", "likelihood", "likely", "ln", "log", "log10", "log2",
    "lower", "ltrim", "match", "max", "median", "min", "mod", "nth_value", "ntile", "nullif",
    "octet_length", "percent_rank", "percentile", "percentile_cont", "percentile_disc", "pi",
    "pow", "power", "printf", "quote", "radians", "random", "randomblob", "rank", "replace",
    "round", "row_number", "rtrim", "sign", "sin", "sinh", "soundex", "sqlite_source_id",
    "sqlite_version", "sqrt", "strftime", "string_agg", "substr", "substring", "subtype", "sum",
    "tan", "tanh", "time", "timediff", "total", "total_changes", "trim", "trunc", "typeof",
    "unhex", "unicode", "unistr", "unistr_quote", "unixepoch", "unlikely", "upper", "zeroblob",
};

static int compare_names(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

// Functions that are registered here: our own, and stand-ins for those of Core Data.
static int is_registered(const char *name) {
    static const char *const prefixes[] = {"godwit_", "NSCOREDATA", "NSPERSISTENTHISTORY"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (sqlite3_strnicmp(name, prefixes[i], (int)strlen(prefixes[i])) == 0) return 1;
    }
    return 0;
}

static int may_call(const char *name) {
    if (name == NULL) return 0;
    return is_registered(name)
        || bsearch(
               &name, pure_functions, sizeof pure_functions / sizeof pure_functions[0],
               sizeof pure_functions[0], compare_names) != NULL;
}

static int equal(const char *left, const char *right) {
    return left != NULL && right != NULL && strcmp(left, right) == 0;
}

static int begins(const char *text, const char *prefix) {
    return text != NULL && strncmp(text, prefix, strlen(prefix)) == 0;
}

static int is_schema_table(const char *name) {
    return equal(name, "sqlite_master") || equal(name, "sqlite_temp_master")
        || equal(name, "sqlite_schema") || equal(name, "sqlite_temp_schema");
}

static const char *const shadows[] = {"_node", "_parent", "_rowid"};

// Whether a table has the name of one that some R-tree keeps.
static int looks_like_shadow(const char *name) {
    size_t length = name == NULL ? 0 : strlen(name);
    for (size_t i = 0; i < sizeof shadows / sizeof shadows[0]; i++) {
        size_t end = strlen(shadows[i]);
        if (length > end && strcmp(name + length - end, shadows[i]) == 0) return 1;
    }
    return 0;
}

// Whether a table has the name of one that the R-tree of that name keeps.
static int is_shadow(const char *name, const char *tree) {
    if (!looks_like_shadow(name) || tree == NULL || !begins(name, tree)) return 0;
    const char *end = name + strlen(tree);
    for (size_t i = 0; i < sizeof shadows / sizeof shadows[0]; i++) {
        if (strcmp(end, shadows[i]) == 0) return 1;
    }
    return 0;
}

static int is_in_place(const godwit_sqlite_guard *guard, const char *schema) {
    return equal(schema, guard->is_temporary ? "temp" : "main");
}

static int makes_or_drops(godwit_sqlite_step step) {
    return step >= godwit_sqlite_step_create_table && step <= godwit_sqlite_step_analyze;
}

// INSERT, UPDATE and DELETE.
static int may_write(const godwit_sqlite_guard *guard, const char *table, const char *schema) {
    if (is_schema_table(table)) {
        return (makes_or_drops(guard->step) || guard->step == godwit_sqlite_step_edit_schema)
            && is_in_place(guard, schema);
    }
    switch (guard->step) {
    case godwit_sqlite_step_edit_schema: return 0;
    case godwit_sqlite_step_create_table:
        return equal(table, "sqlite_sequence") && is_in_place(guard, schema);
    case godwit_sqlite_step_create_rtree:
        return is_shadow(table, guard->name) && is_in_place(guard, schema);
    case godwit_sqlite_step_drop_table:
        return (equal(table, guard->name) || begins(table, "sqlite_")) && equal(schema, "main");
    case godwit_sqlite_step_drop_index:
    case godwit_sqlite_step_analyze: return begins(table, "sqlite_stat") && equal(schema, "main");
    case godwit_sqlite_step_create_index:
    case godwit_sqlite_step_create_trigger:
    case godwit_sqlite_step_create_view: return 0;
    default: break;
    }
    // An R-tree compiles its writing statements as soon as it is read.
    return equal(schema, "temp") || (guard->writes_main && equal(schema, "main"))
        || looks_like_shadow(table);
}

static int may_create_table(
    const godwit_sqlite_guard *guard, const char *name, const char *schema) {
    if (!is_in_place(guard, schema)) return 0;
    switch (guard->step) {
    case godwit_sqlite_step_create_table:
        return equal(name, guard->name) || equal(name, "sqlite_sequence");
    case godwit_sqlite_step_create_rtree: return is_shadow(name, guard->name);
    case godwit_sqlite_step_analyze: return begins(name, "sqlite_stat");
    default: return 0;
    }
}

static int may_create_index(
    const godwit_sqlite_guard *guard, const char *name, const char *table, const char *schema) {
    if (!is_in_place(guard, schema)) return 0;
    if (guard->step == godwit_sqlite_step_create_table) {
        return begins(name, "sqlite_autoindex_") && equal(table, guard->name);
    }
    return guard->step == godwit_sqlite_step_create_index && equal(name, guard->name)
        && guard->table != NULL && table != NULL && sqlite3_stricmp(table, guard->table) == 0;
}

// Pragmas that only tell what a schema is: SQLite runs them for its table-valued functions, for
// serialization, and for R-trees.
static int may_ask(const godwit_sqlite_guard *guard, const char *name, const char *argument) {
    if (guard->step == godwit_sqlite_step_pragma || guard->step == godwit_sqlite_step_attach) {
        return 1;
    }
    if (equal(name, "page_count") || equal(name, "page_size")) return argument == NULL;
    return equal(name, "table_xinfo") || equal(name, "index_list") || equal(name, "index_xinfo");
}

static int may(
    const godwit_sqlite_guard *guard, int action, const char *first, const char *second,
    const char *schema) {
    godwit_sqlite_step step = guard->step;
    switch (action) {
    case SQLITE_READ: return 1;
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        // A table that a query fills, or anything else that would run one.
        return step < godwit_sqlite_step_create_table || step > godwit_sqlite_step_create_view;
    case SQLITE_FUNCTION: return may_call(second);
    case SQLITE_UPDATE:
        // SQLite compiles such a statement, and throws it away, for every virtual table that it
        // meets, table-valued functions among them. A statement of its own would need
        // writable_schema.
        if (is_schema_table(first)) return 1;
        return may_write(guard, first, schema);
    case SQLITE_INSERT:
    case SQLITE_DELETE: return may_write(guard, first, schema);
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT: return step == godwit_sqlite_step_none;
    case SQLITE_PRAGMA: return may_ask(guard, first, second);
    case SQLITE_ATTACH: return step == godwit_sqlite_step_attach;
    case SQLITE_DETACH: return step == godwit_sqlite_step_detach;
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_TEMP_TABLE: return may_create_table(guard, first, schema);
    case SQLITE_CREATE_INDEX:
    case SQLITE_CREATE_TEMP_INDEX: return may_create_index(guard, first, second, schema);
    case SQLITE_REINDEX:
        return step == godwit_sqlite_step_create_index && equal(first, guard->name);
    case SQLITE_CREATE_TRIGGER:
        return step == godwit_sqlite_step_create_trigger && equal(first, guard->name)
            && guard->table != NULL && second != NULL
            && sqlite3_stricmp(second, guard->table) == 0 && is_in_place(guard, schema);
    case SQLITE_CREATE_VIEW:
        return step == godwit_sqlite_step_create_view && equal(first, guard->name)
            && is_in_place(guard, schema);
    case SQLITE_CREATE_VTABLE:
        return step == godwit_sqlite_step_create_rtree && equal(first, guard->name)
            && second != NULL && is_in_place(guard, schema)
            && (sqlite3_stricmp(second, "rtree") == 0
                || sqlite3_stricmp(second, "rtree_i32") == 0);
    case SQLITE_DROP_TABLE:
        return step == godwit_sqlite_step_drop_table && equal(first, guard->name)
            && equal(schema, "main");
    case SQLITE_DROP_INDEX:
        return step == godwit_sqlite_step_drop_index && equal(first, guard->name)
            && equal(schema, "main");
    case SQLITE_ANALYZE: return step == godwit_sqlite_step_analyze;
    default: return 0;
    }
}

static int decide(
    void *context, int action, const char *first, const char *second, const char *schema,
    const char *inner) {
    (void)inner;
    const godwit_sqlite_guard *guard = context;
    if (guard->step == godwit_sqlite_step_vacuum) return SQLITE_OK;
    return may(guard, action, first, second, schema) ? SQLITE_OK : SQLITE_DENY;
}

godwit_sqlite_guard *godwit_sqlite_guard_new(sqlite3 *connection, int writes_main) {
    godwit_sqlite_guard *guard = calloc(1, sizeof *guard);
    if (guard == NULL) return NULL;
    guard->writes_main = writes_main;
    if (sqlite3_set_authorizer(connection, decide, guard) != SQLITE_OK) {
        free(guard);
        return NULL;
    }
    return guard;
}

void godwit_sqlite_guard_free(godwit_sqlite_guard *guard) {
    if (guard == NULL) return;
    godwit_sqlite_guard_close(guard);
    free(guard);
}

int godwit_sqlite_guard_open(
    godwit_sqlite_guard *guard, godwit_sqlite_step step, const char *name, const char *table,
    int is_temporary) {
    godwit_sqlite_guard_close(guard);
    guard->name = name == NULL ? NULL : strdup(name);
    guard->table = table == NULL ? NULL : strdup(table);
    if ((name != NULL && guard->name == NULL) || (table != NULL && guard->table == NULL)) {
        godwit_sqlite_guard_close(guard);
        return SQLITE_NOMEM;
    }
    guard->is_temporary = is_temporary;
    guard->step = step;
    return SQLITE_OK;
}

void godwit_sqlite_guard_close(godwit_sqlite_guard *guard) {
    free(guard->name);
    free(guard->table);
    guard->name = NULL;
    guard->table = NULL;
    guard->is_temporary = 0;
    guard->step = godwit_sqlite_step_none;
}
