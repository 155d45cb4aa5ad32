#include "Budget.h"
#include "CSQLite.h"

#include <stdatomic.h>
#include <stdint.h>

// Of all connections together only large allocations are counted: values are large, and there are
// few of them at a time, so that no thread waits for another one.
enum { LARGE = 1 << 16 };

static sqlite3_mem_methods standard;
static atomic_llong held;
static atomic_llong most = INT64_MAX;

// Small ones are what SQLite makes of a schema's text, up to a hundred bytes of each. They are
// counted by thread, and bounded in each call of a connection with a budget: a call that reads a
// schema reads all of it.
enum { SMALL_OF_A_CALL = 64 << 20 };

static _Thread_local int64_t small;
static _Thread_local int64_t small_before;
static _Thread_local godwit_sqlite_budget *bounded;

void godwit_sqlite_bound_small(godwit_sqlite_budget *budget) {
    bounded = budget;
    small_before = small;
}

static int has_no_room(int64_t size) {
    if (bounded == NULL || size >= LARGE) return 0;
    if (small + size - small_before <= SMALL_OF_A_CALL) return 0;
    godwit_sqlite_budget_exhaust(bounded);
    return 1;
}

static int64_t size_of(void *memory) { return memory == NULL ? 0 : standard.xSize(memory); }

// Threads share a counter for what is large alone.
static void count(int64_t before, int64_t after) {
    int64_t large = (after >= LARGE ? after : 0) - (before >= LARGE ? before : 0);
    if (large != 0) atomic_fetch_add(&held, large);
    small += after - before - large;
}

static void *counted_malloc(int size) {
    if (size >= LARGE && atomic_load(&held) + size > atomic_load(&most)) return NULL;
    if (has_no_room(size)) return NULL;
    void *memory = standard.xMalloc(size);
    count(0, size_of(memory));
    return memory;
}

static void counted_free(void *memory) {
    count(size_of(memory), 0);
    standard.xFree(memory);
}

static void *counted_realloc(void *memory, int size) {
    int64_t before = size_of(memory), large = before >= LARGE ? before : 0;
    if (size >= LARGE && atomic_load(&held) - large + size > atomic_load(&most)) return NULL;
    if (has_no_room(size)) return NULL;
    void *moved = standard.xRealloc(memory, size);
    if (moved != NULL) count(before, size_of(moved));
    return moved;
}

void godwit_sqlite_limit_memory(int64_t limit) { atomic_store(&most, limit); }

int godwit_sqlite_count_memory(void) {
    int code = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &standard);
    if (code != SQLITE_OK) return code;
    sqlite3_mem_methods counted = standard;
    counted.xMalloc = counted_malloc;
    counted.xFree = counted_free;
    counted.xRealloc = counted_realloc;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &counted);
}
