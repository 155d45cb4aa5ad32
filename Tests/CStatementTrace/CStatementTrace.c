#include "CStatementTrace.h"

#include <ctype.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct note {
    char *file;
    char *text;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char watched[4096];
static int is_noting;
// Databases in memory have no folder: those of this thread count.
static pthread_t owner;
static struct note *notes;
static long count;
static long room;

static void add(const char *file, const char *text) {
    pthread_mutex_lock(&lock);
    int is_inside = file[0] == 0 ? pthread_equal(pthread_self(), owner)
                                 : strncmp(file, watched, strlen(watched)) == 0;
    if (is_noting && is_inside) {
        if (count == room) {
            room = room == 0 ? 1024 : 2 * room;
            notes = realloc(notes, (size_t)room * sizeof *notes);
            if (notes == NULL) abort();
        }
        notes[count].file = strdup(file);
        notes[count].text = strdup(text);
        count++;
    }
    pthread_mutex_unlock(&lock);
}

static int note(unsigned event, void *context, void *statement, void *text) {
    (void)event;
    const char *file = sqlite3_db_filename(context, "main");
    // What a trigger or a virtual table runs comes as a comment that names it.
    const char *shown = text;
    if (shown == NULL) shown = sqlite3_sql(statement);
    add(file == NULL ? "" : file, shown == NULL ? "" : shown);
    return 0;
}

static int attach(sqlite3 *connection, char **error, const void *interface) {
    (void)error;
    (void)interface;
    return sqlite3_trace_v2(connection, SQLITE_TRACE_STMT, note, connection);
}

void cstatementtrace_begin(const char *folder) {
    pthread_mutex_lock(&lock);
    for (long i = 0; i < count; i++) {
        free(notes[i].file);
        free(notes[i].text);
    }
    count = 0;
    strncpy(watched, folder, sizeof watched - 1);
    owner = pthread_self();
    is_noting = 1;
    pthread_mutex_unlock(&lock);
    sqlite3_auto_extension((void (*)(void))attach);
}

void cstatementtrace_end(void) {
    sqlite3_cancel_auto_extension((void (*)(void))attach);
    pthread_mutex_lock(&lock);
    is_noting = 0;
    pthread_mutex_unlock(&lock);
}

long cstatementtrace_count(void) { return count; }

int cstatementtrace_statement(long number, const char **file, const char **text) {
    if (number < 0 || number >= count) return 0;
    *file = notes[number].file;
    *text = notes[number].text;
    return 1;
}

char *cstatementtrace_bare(const char *text) {
    while (strncmp(text, "-- ", 3) == 0) text += 3;
    char *bare = malloc(strlen(text) + 1);
    if (bare == NULL) abort();
    char *end = bare;
    char quote = 0;
    for (; *text != 0; text++) {
        if (quote != 0) {
            // A doubled quote ends one piece and begins the next.
            if (*text == quote) quote = 0;
        } else if (*text == '"' || *text == '\'') {
            quote = *text;
            *end++ = ' ';
        } else {
            *end++ = (char)toupper((unsigned char)*text);
        }
    }
    *end = 0;
    if (quote == 0) return bare;
    free(bare);
    return NULL;
}
