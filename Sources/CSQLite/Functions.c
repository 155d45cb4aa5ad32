#define _GNU_SOURCE
#include "Budget.h"
#include "CSQLite.h"

#include <stdlib.h>
#include <string.h>

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

// The most comparisons of one call whose time grows with the product of two lengths.
static const int64_t comparisons = (int64_t)1 << 33;

struct sign {
    const unsigned char *start;
    size_t length;
};

static size_t match(const struct sign *signs, size_t count, const unsigned char *at, size_t size) {
    for (size_t i = 0; i < count; i++) {
        if (signs[i].length <= size && memcmp(at, signs[i].start, signs[i].length) == 0) {
            return signs[i].length;
        }
    }
    return 0;
}

static size_t match_end(
    const struct sign *signs, size_t count, const unsigned char *end, size_t size) {
    for (size_t i = 0; i < count; i++) {
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
    struct sign blank = {(const unsigned char *)" ", 1}, *signs = &blank;
    size_t known = 1;
    if (count == 2) {
        const unsigned char *text = sqlite3_value_text(values[1]);
        if (text == NULL) return;
        // SQLite's set ends at a NUL.
        const unsigned char *end = text + strlen((const char *)text);
        if ((int64_t)size * (end - text) > comparisons) {
            return sqlite3_result_error_toobig(context);
        }
        signs = sqlite3_malloc64((sqlite3_uint64)(end - text + 1) * sizeof *signs);
        if (signs == NULL) return sqlite3_result_error_nomem(context);
        for (known = 0; text < end; known++) {
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
    if (signs != &blank) sqlite3_free(signs);
}

// The most bytes of a pattern.
enum { PATTERN = 1000 };

// The one character of a text as SQLite reads it; 0 for none or several.
static unsigned only_character(const unsigned char *text) {
    unsigned character = text[0];
    size_t length = 1;
    if (character >= 0xC0) {
        character &= character < 0xE0 ? 0x1F : character < 0xF0 ? 0x0F : 0x07;
        for (; is_continuation(text[length]); length++) {
            character = character << 6 | (text[length] & 0x3F);
        }
    }
    return text[0] == 0 || text[length] != 0 ? 0 : character;
}

// like(X, Y), like(X, Y, Z) and glob(X, Y) by SQLite's own comparison, whose time grows with the
// product of two lengths. No jump lies between the checks of one row, and so no look: each call is
// one.
static void compare(sqlite3_context *context, int count, sqlite3_value **values, int is_glob) {
    godwit_sqlite_budget *budget = sqlite3_user_data(context);
    int has_blob = sqlite3_value_type(values[0]) == SQLITE_BLOB
        || sqlite3_value_type(values[1]) == SQLITE_BLOB;
    if (has_blob && sqlite3_compileoption_used("LIKE_DOESNT_MATCH_BLOBS")) {
        return sqlite3_result_int(context, 0);
    }
    int64_t size = sqlite3_value_bytes(values[0]);
    if (size > PATTERN) {
        return sqlite3_result_error(context, "LIKE or GLOB pattern too complex", -1);
    }
    unsigned escape = 0;
    if (count == 3) {
        const unsigned char *text = sqlite3_value_text(values[2]);
        if (text == NULL) return;
        escape = only_character(text);
        if (escape == 0 || escape == '%' || escape == '_') {
            return sqlite3_result_error(
                context, "ESCAPE expression must be a single character and no wildcard", -1);
        }
    }
    const char *pattern = (const char *)sqlite3_value_text(values[0]);
    const char *text = (const char *)sqlite3_value_text(values[1]);
    if (pattern == NULL || text == NULL) return;
    if (size * sqlite3_value_bytes(values[1]) > comparisons) {
        return sqlite3_result_error_toobig(context);
    }
    int difference =
        is_glob ? sqlite3_strglob(pattern, text) : sqlite3_strlike(pattern, text, escape);
    if (godwit_sqlite_budget_is_spent(budget)) {
        return sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    }
    sqlite3_result_int(context, difference == 0);
}

static void like(sqlite3_context *context, int count, sqlite3_value **values) {
    compare(context, count, values, 0);
}

static void glob(sqlite3_context *context, int count, sqlite3_value **values) {
    compare(context, count, values, 1);
}

int godwit_sqlite_bound_functions(sqlite3 *connection, godwit_sqlite_budget *budget) {
    static const struct {
        const char *name;
        int count;
        intptr_t sides;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {
        {"instr", 2, 0, find},  {"replace", 3, 0, substitute}, {"ltrim", 1, 1, trim},
        {"ltrim", 2, 1, trim},  {"rtrim", 1, 2, trim},         {"rtrim", 2, 2, trim},
        {"trim", 1, 3, trim},   {"trim", 2, 3, trim},          {"like", 2, 0, like},
        {"like", 3, 0, like},   {"glob", 2, 0, glob},
    };
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *data = functions[i].sides == 0 ? (void *)budget : (void *)functions[i].sides;
        int code = sqlite3_create_function_v2(
            connection, functions[i].name, functions[i].count, flags, data, functions[i].call,
            NULL, NULL, NULL);
        if (code != SQLITE_OK) return code;
    }
    sqlite3_limit(connection, SQLITE_LIMIT_VDBE_OP, 1000000);
    return SQLITE_OK;
}
