#define _GNU_SOURCE
#include "Budget.h"
#include "CSQLite.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Time -------------------------------------------------------------------------------------------

struct godwit_sqlite_budget {
    int64_t limit, used, last;
};

// Between two calls a connection may have been idle; that counts as this much at most.
static const int64_t most_at_a_time = 1000;
// Instructions of SQLite's virtual machine between two looks.
enum { INSTRUCTIONS = 2000 };

static int64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int is_spent(void *context) {
    godwit_sqlite_budget *budget = context;
    int64_t now = milliseconds(), passed = now - budget->last;
    budget->last = now;
    budget->used += passed < most_at_a_time ? passed : most_at_a_time;
    return budget->used > budget->limit;
}

godwit_sqlite_budget *godwit_sqlite_budget_new(void) {
    return calloc(1, sizeof(godwit_sqlite_budget));
}

void godwit_sqlite_budget_free(godwit_sqlite_budget *budget) { free(budget); }

void godwit_sqlite_budget_set(
    godwit_sqlite_budget *budget, sqlite3 *connection, int64_t limit) {
    budget->limit = limit;
    budget->used = 0;
    budget->last = milliseconds();
    if (limit > 0) {
        sqlite3_progress_handler(connection, INSTRUCTIONS, is_spent, budget);
    } else {
        sqlite3_progress_handler(connection, 0, NULL, NULL);
    }
}

void godwit_sqlite_budget_touch(godwit_sqlite_budget *budget) {
    if (budget->limit > 0) budget->last = milliseconds();
}

int64_t godwit_sqlite_budget_limit(const godwit_sqlite_budget *budget) { return budget->limit; }

// Memory -----------------------------------------------------------------------------------------

// Only large allocations are counted: values are large, and there are few of them at a time, so
// that no thread waits for another one.
enum { LARGE = 1 << 16 };

static sqlite3_mem_methods standard;
static atomic_llong held;
static int64_t most;

static int is_large(void *memory) { return memory != NULL && standard.xSize(memory) >= LARGE; }

static void *counted_malloc(int size) {
    if (size >= LARGE && atomic_load(&held) + size > most) return NULL;
    void *memory = standard.xMalloc(size);
    if (is_large(memory)) atomic_fetch_add(&held, standard.xSize(memory));
    return memory;
}

static void counted_free(void *memory) {
    if (is_large(memory)) atomic_fetch_sub(&held, standard.xSize(memory));
    standard.xFree(memory);
}

static void *counted_realloc(void *memory, int size) {
    long long before = is_large(memory) ? standard.xSize(memory) : 0;
    if (size >= LARGE && atomic_load(&held) - before + size > most) return NULL;
    void *moved = standard.xRealloc(memory, size);
    if (moved == NULL) return NULL;
    long long after = is_large(moved) ? standard.xSize(moved) : 0;
    atomic_fetch_add(&held, after - before);
    return moved;
}

int godwit_sqlite_limit_memory(int64_t limit) {
    // A second call would count by itself.
    if (most != 0) return SQLITE_MISUSE;
    int code = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &standard);
    if (code != SQLITE_OK) return code;
    most = limit;
    sqlite3_mem_methods counted = standard;
    counted.xMalloc = counted_malloc;
    counted.xFree = counted_free;
    counted.xRealloc = counted_realloc;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &counted);
}

// Functions --------------------------------------------------------------------------------------

static int is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// instr(X, Y), in a time that grows with the length of both and not with their product.
static void find(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    int kinds[2] = {sqlite3_value_type(values[0]), sqlite3_value_type(values[1])};
    if (kinds[0] == SQLITE_NULL || kinds[1] == SQLITE_NULL) return;
    int is_text = kinds[0] != SQLITE_BLOB || kinds[1] != SQLITE_BLOB;
    const unsigned char *in, *what;
    if (is_text) {
        in = sqlite3_value_text(values[0]);
        what = sqlite3_value_text(values[1]);
    } else {
        in = sqlite3_value_blob(values[0]);
        what = sqlite3_value_blob(values[1]);
    }
    size_t size = (size_t)sqlite3_value_bytes(values[0]);
    size_t length = (size_t)sqlite3_value_bytes(values[1]);
    if (length == 0) return sqlite3_result_int(context, 1);
    if (in == NULL || what == NULL) {
        if (size != 0) sqlite3_result_error_nomem(context);
        else sqlite3_result_int(context, 0);
        return;
    }
    const unsigned char *found = memmem(in, size, what, length);
    // What begins inside a character is found at the very beginning alone.
    if (is_text && is_continuation(what[0]) && found != in) found = NULL;
    if (found == NULL) return sqlite3_result_int(context, 0);
    sqlite3_int64 place = 1;
    for (const unsigned char *at = in; at < found; at++) {
        if (!is_text || at + 1 == found || !is_continuation(at[1])) place++;
    }
    sqlite3_result_int64(context, place);
}

// replace(X, Y, Z), likewise.
static void substitute(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    // In SQLite's order: an empty text is replaced by nothing, even by NULL.
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
    const char *in = (const char *)sqlite3_value_text(values[0]);
    if (sqlite3_value_type(values[1]) == SQLITE_NULL) return;
    const char *what = (const char *)sqlite3_value_text(values[1]);
    if (in == NULL || what == NULL) return sqlite3_result_error_nomem(context);
    if (what[0] == 0) return sqlite3_result_value(context, values[0]);
    if (sqlite3_value_type(values[2]) == SQLITE_NULL) return;
    const char *by = (const char *)sqlite3_value_text(values[2]);
    if (by == NULL) return sqlite3_result_error_nomem(context);
    size_t size = (size_t)sqlite3_value_bytes(values[0]);
    size_t length = (size_t)sqlite3_value_bytes(values[1]);
    size_t other = (size_t)sqlite3_value_bytes(values[2]);
    const char *end = in + size, *at, *found;
    size_t places = 0;
    for (at = in; (found = memmem(at, (size_t)(end - at), what, length)) != NULL; places++) {
        at = found + length;
    }
    int64_t total = (int64_t)(size - places * length) + (int64_t)places * (int64_t)other;
    sqlite3 *connection = sqlite3_context_db_handle(context);
    if (total > sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, -1)) {
        return sqlite3_result_error_toobig(context);
    }
    char *result = sqlite3_malloc64((sqlite3_uint64)total + 1), *to = result;
    if (result == NULL) return sqlite3_result_error_nomem(context);
    for (at = in; (found = memmem(at, (size_t)(end - at), what, length)) != NULL;) {
        memcpy(to, at, (size_t)(found - at));
        to += found - at;
        memcpy(to, by, other);
        to += other;
        at = found + length;
    }
    memcpy(to, at, (size_t)(end - at));
    sqlite3_result_text64(context, result, (sqlite3_uint64)total, sqlite3_free, SQLITE_UTF8);
}

// trim(X, Y) and its two halves take the product of both lengths: Y is some signs.
enum { TRIMMED = 256 };

struct sign {
    const unsigned char *start;
    size_t length;
};

static size_t match(const struct sign *signs, int count, const unsigned char *at, size_t size) {
    for (int i = 0; i < count; i++) {
        if (signs[i].length <= size && memcmp(at, signs[i].start, signs[i].length) == 0) {
            return signs[i].length;
        }
    }
    return 0;
}

static size_t match_end(
    const struct sign *signs, int count, const unsigned char *end, size_t size) {
    for (int i = 0; i < count; i++) {
        if (signs[i].length <= size
            && memcmp(end - signs[i].length, signs[i].start, signs[i].length) == 0) {
            return signs[i].length;
        }
    }
    return 0;
}

// The data say which sides: 1 the left one, 2 the right one.
static void trim(sqlite3_context *context, int count, sqlite3_value **values) {
    int sides = (int)(intptr_t)sqlite3_user_data(context);
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
    const unsigned char *at = sqlite3_value_text(values[0]);
    if (at == NULL) return sqlite3_result_error_nomem(context);
    size_t size = (size_t)sqlite3_value_bytes(values[0]);
    struct sign signs[TRIMMED] = {{(const unsigned char *)" ", 1}};
    int known = 1;
    if (count == 2) {
        const unsigned char *text = sqlite3_value_text(values[1]);
        if (text == NULL) return;
        const unsigned char *end = text + sqlite3_value_bytes(values[1]);
        for (known = 0; text < end; known++) {
            if (known == TRIMMED) {
                return sqlite3_result_error(context, "too many signs to trim", -1);
            }
            signs[known].start = text++;
            // As SQLite reads characters.
            if (signs[known].start[0] >= 0xC0) {
                while (text < end && is_continuation(*text)) text++;
            }
            signs[known].length = (size_t)(text - signs[known].start);
        }
    }
    size_t length;
    while ((sides & 1) && (length = match(signs, known, at, size)) > 0) {
        at += length;
        size -= length;
    }
    while ((sides & 2) && (length = match_end(signs, known, at + size, size)) > 0) {
        size -= length;
    }
    sqlite3_result_text64(
        context, (const char *)at, size, SQLITE_TRANSIENT, SQLITE_UTF8);
}

int godwit_sqlite_bound_functions(sqlite3 *connection) {
    static const struct {
        const char *name;
        int count;
        intptr_t sides;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {
        {"instr", 2, 0, find},  {"replace", 3, 0, substitute}, {"ltrim", 1, 1, trim},
        {"ltrim", 2, 1, trim},  {"rtrim", 1, 2, trim},         {"rtrim", 2, 2, trim},
        {"trim", 1, 3, trim},   {"trim", 2, 3, trim},
    };
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        int code = sqlite3_create_function_v2(
            connection, functions[i].name, functions[i].count, flags,
            (void *)functions[i].sides, functions[i].call, NULL, NULL, NULL);
        if (code != SQLITE_OK) return code;
    }
    sqlite3_limit(connection, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
    sqlite3_limit(connection, SQLITE_LIMIT_VDBE_OP, 1000000);
    return SQLITE_OK;
}
