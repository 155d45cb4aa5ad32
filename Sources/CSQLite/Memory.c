#include "Budget.h"
#include "CSQLite.h"
#include "SmallBlocks.h"

#include <stdatomic.h>
#include <stdint.h>

// Of all connections together only large allocations are counted: values are large, and there are
// few of them at a time, so that no thread waits for another one.
enum { LARGE = 1 << 16 };

static atomic_llong held;
static atomic_llong most = INT64_MAX;

// Small ones are what SQLite makes of a schema's text, up to a hundred bytes of each. They are
// counted by thread, and bounded in each call of a connection with a budget: a call that reads a
// schema reads all of it.
enum { SMALL_OF_A_CALL = 64 << 20 };

_Thread_local int64_t godwit_sqlite_small, godwit_sqlite_small_before;
_Thread_local godwit_sqlite_budget *godwit_sqlite_bounded;

// What was asked for stands before each allocation, as in SQLite's own allocator: to ask the C
// library took more time than all the rest of the counting. SQLite needs places of 8 bytes.
enum { PREFIX = 8 };

static int64_t size_of(const void *memory) {
    return memory == NULL ? 0 : *((const int64_t *)memory - 1);
}

static void *sized(void *start, int64_t size) {
    if (start == NULL) return NULL;
    *(int64_t *)start = size;
    return (char *)start + PREFIX;
}

static void *start_of(void *memory) { return memory == NULL ? NULL : (char *)memory - PREFIX; }

// Whether so many bytes more may be held, and counts them if so. Threads share a counter for what
// is large alone.
static int takes(int64_t before, int64_t after) {
    int64_t large = (after >= LARGE ? after : 0) - (before >= LARGE ? before : 0);
    int64_t small = after - before - large;
    if (small > 0 && godwit_sqlite_bounded != NULL
        && godwit_sqlite_small - godwit_sqlite_small_before + small > SMALL_OF_A_CALL) {
        godwit_sqlite_budget_exhaust(godwit_sqlite_bounded);
        return 0;
    }
    if (large != 0) {
        if (large > 0 && atomic_load(&held) + large > atomic_load(&most)) return 0;
        atomic_fetch_add(&held, large);
    }
    godwit_sqlite_small += small;
    return 1;
}

static void *counted_malloc(int size) {
    if (!takes(0, size)) return NULL;
    void *memory = sized(godwit_block_new((size_t)size + PREFIX), size);
    if (memory == NULL) (void)takes(size, 0);
    return memory;
}

static void counted_free(void *memory) {
    if (memory == NULL) return;
    int64_t size = size_of(memory);
    (void)takes(size, 0);
    godwit_block_free(start_of(memory), (size_t)size + PREFIX);
}

static void *counted_realloc(void *memory, int size) {
    int64_t before = size_of(memory);
    if (!takes(before, size)) return NULL;
    void *moved = godwit_block_resize(
        start_of(memory), (size_t)before + PREFIX, (size_t)size + PREFIX);
    moved = sized(moved, size);
    if (moved == NULL) (void)takes(size, before);
    return moved;
}

static int counted_size(void *memory) { return (int)size_of(memory); }

static int rounded_up(int size) { return (size + 7) & ~7; }

static int begin(void *unused) {
    (void)unused;
    return SQLITE_OK;
}

static void end(void *unused) { (void)unused; }

void godwit_sqlite_limit_memory(int64_t limit) { atomic_store(&most, limit); }

int godwit_sqlite_count_memory(void) {
    sqlite3_mem_methods counted = {
        .xMalloc = counted_malloc,
        .xFree = counted_free,
        .xRealloc = counted_realloc,
        .xSize = counted_size,
        .xRoundup = rounded_up,
        .xInit = begin,
        .xShutdown = end,
    };
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &counted);
}
