#include "SmallBlocks.h"

#include <pthread.h>
#include <stdlib.h>

// Sizes go by steps of STEP bytes; blocks of one step are as good as each other. A thread keeps up
// to KEPT of each: half a megabyte, if it had all of them.
enum { STEP = 16, STEPS = 32, KEPT = 64 };

struct block {
    struct block *next;
};

static _Thread_local struct block *kept[STEPS + 1];
static _Thread_local unsigned char counts[STEPS + 1];

static pthread_key_t ending;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int has_key;
static _Thread_local int keeps;

static size_t step_of(size_t size) { return (size + STEP - 1) / STEP; }

static void release(void *unused) {
    (void)unused;
    keeps = 0;
    for (size_t step = 0; step <= STEPS; step++) {
        while (kept[step] != NULL) {
            struct block *next = kept[step]->next;
            free(kept[step]);
            kept[step] = next;
        }
        counts[step] = 0;
    }
}

static void make_key(void) { has_key = pthread_key_create(&ending, release) == 0; }

// Whether what this thread keeps will be freed when it ends.
static int may_keep(void) {
    if (keeps) return 1;
    pthread_once(&once, make_key);
    keeps = has_key && pthread_setspecific(ending, kept) == 0;
    return keeps;
}

void *godwit_block_new(size_t size) {
    size_t step = step_of(size);
    if (step > STEPS) return malloc(size);
    struct block *block = kept[step];
    if (block == NULL) return malloc(step * STEP);
    kept[step] = block->next;
    counts[step]--;
    return block;
}

void godwit_block_free(void *memory, size_t size) {
    size_t step = step_of(size);
    if (step > STEPS || counts[step] == KEPT || !may_keep()) {
        free(memory);
        return;
    }
    struct block *block = memory;
    block->next = kept[step];
    kept[step] = block;
    counts[step]++;
}

void *godwit_block_resize(void *memory, size_t before, size_t size) {
    size_t step = step_of(size);
    if (step <= STEPS) {
        return step == step_of(before) ? memory : realloc(memory, step * STEP);
    }
    return realloc(memory, size);
}
