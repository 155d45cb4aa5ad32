#define _GNU_SOURCE
#include "Budget.h"
#include "CSQLite.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

struct godwit_sqlite_budget {
    // Milliseconds: counted and paid for; those since the processor's time was asked for; the time
    // of the last look; and the processor's time, of which thread.
    int64_t limit, used, pending, last, processor;
    uint64_t thread;
    // Bytes that may be written, what was, and what this thread had written before the call.
    int64_t room, wrote, before;
    // The call that runs, 0 for none, and how many there were.
    _Atomic uint64_t call;
    uint64_t calls;
    // The thread of the last call, 0 before the first one.
    uint64_t caller;
    // The clock of the thread that it runs on, and whether it has run for longer than a look of
    // the watch.
    _Atomic clockid_t clock;
    atomic_int is_long;
    // What follows is the watch's, under its lock: the call that it saw last, and for how long.
    godwit_sqlite_budget *previous, *next;
    sqlite3 *connection;
    uint64_t seen;
    int64_t watched, worked;
    // What a stop interrupts: the same connection, also while it has no limit; NULL once retired.
    sqlite3 *stoppable;
    godwit_sqlite_stop *stop;
};

struct godwit_sqlite_stop {
    atomic_long keepers;
    atomic_int is_set;
};

// Between two looks of the watch, in milliseconds.
enum { TICK = 250 };

static pthread_mutex_t watch = PTHREAD_MUTEX_INITIALIZER;
static godwit_sqlite_budget *all;

static int64_t milliseconds(clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now) != 0) return 0;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// To count a table's rows, SQLite follows its pages without one look at a progress handler. Only an
// interrupt reaches it there. What counts is the thread's time of a processor: a disk that stands
// still is no fault of the file.
static void *keep_watch(void *unused) {
    (void)unused;
    const struct timespec pause = {0, TICK * 1000000L};
    for (;;) {
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&watch);
        for (godwit_sqlite_budget *budget = all; budget != NULL; budget = budget->next) {
            uint64_t call = atomic_load_explicit(&budget->call, memory_order_acquire);
            int64_t worked =
                call == 0
                    ? 0
                    : milliseconds(atomic_load_explicit(&budget->clock, memory_order_relaxed));
            int64_t more = worked - budget->worked;
            if (call == 0 || call != budget->seen) budget->watched = 0;
            else if (more > 0) budget->watched += more < 2 * TICK ? more : 2 * TICK;
            if (budget->watched > 0) {
                atomic_store_explicit(&budget->is_long, 1, memory_order_relaxed);
            }
            budget->seen = call;
            budget->worked = worked;
            // A statement that began in the same moment did not hear the first interrupt.
            if (budget->stoppable != NULL && godwit_sqlite_stop_is_set(budget->stop)) {
                sqlite3_interrupt(budget->stoppable);
            }
            if (call == 0 || budget->connection == NULL) continue;
            if (budget->watched > budget->limit) sqlite3_interrupt(budget->connection);
        }
        pthread_mutex_unlock(&watch);
    }
    return NULL;
}

static void begin_watch(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t signals, before;
    sigfillset(&signals);
    pthread_sigmask(SIG_SETMASK, &signals, &before);
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, 1 << 16);
        // Without it, only such a count has no end.
        (void)pthread_create(&thread, &attributes, keep_watch, NULL);
        pthread_attr_destroy(&attributes);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void watch_over(godwit_sqlite_budget *budget, sqlite3 *connection, int64_t limit) {
    pthread_mutex_lock(&watch);
    budget->connection = connection;
    budget->limit = limit;
    pthread_mutex_unlock(&watch);
}

static _Thread_local godwit_sqlite_stop *current_stop;

godwit_sqlite_stop *godwit_sqlite_stop_new(void) {
    godwit_sqlite_stop *stop = calloc(1, sizeof(godwit_sqlite_stop));
    if (stop != NULL) atomic_init(&stop->keepers, 1);
    return stop;
}

void godwit_sqlite_stop_retain(godwit_sqlite_stop *stop) {
    if (stop != NULL) atomic_fetch_add_explicit(&stop->keepers, 1, memory_order_relaxed);
}

void godwit_sqlite_stop_release(godwit_sqlite_stop *stop) {
    if (stop == NULL) return;
    if (atomic_fetch_sub_explicit(&stop->keepers, 1, memory_order_acq_rel) == 1) free(stop);
}

int godwit_sqlite_stop_is_set(const godwit_sqlite_stop *stop) {
    return stop != NULL && atomic_load_explicit(&stop->is_set, memory_order_acquire) != 0;
}

void godwit_sqlite_stop_set(godwit_sqlite_stop *stop) {
    atomic_store_explicit(&stop->is_set, 1, memory_order_release);
    pthread_mutex_lock(&watch);
    for (godwit_sqlite_budget *budget = all; budget != NULL; budget = budget->next) {
        if (budget->stop == stop && budget->stoppable != NULL) {
            sqlite3_interrupt(budget->stoppable);
        }
    }
    pthread_mutex_unlock(&watch);
}

godwit_sqlite_stop *godwit_sqlite_stop_enter(godwit_sqlite_stop *stop) {
    godwit_sqlite_stop *former = current_stop;
    current_stop = stop;
    return former;
}

godwit_sqlite_stop *godwit_sqlite_stop_current(void) { return current_stop; }

void godwit_sqlite_budget_connect(godwit_sqlite_budget *budget, sqlite3 *connection) {
    pthread_mutex_lock(&watch);
    budget->stoppable = connection;
    pthread_mutex_unlock(&watch);
}

int godwit_sqlite_budget_is_stopped(const godwit_sqlite_budget *budget) {
    return godwit_sqlite_stop_is_set(budget->stop);
}

static _Thread_local int64_t written;

void godwit_sqlite_wrote(int64_t count) { written += count; }

// A number for each thread, which none gets again, as it does with addresses and pthread_self(3).
static uint64_t thread_number(void) {
    static atomic_uint_fast64_t last;
    static _Thread_local uint64_t number;
    if (number == 0) number = atomic_fetch_add(&last, 1) + 1;
    return number;
}

// Instructions of SQLite's virtual machine between two looks. A prime: SQLite looks at jumps alone
// and counts on from row to row, so that a multiple of a row's instructions is never met.
enum { INSTRUCTIONS = 1999 };
// Milliseconds by the clock after which the processor's time is asked for, by a system call.
enum { PENDING = 100 };
// Calls that are timed together, with what the caller does between them: rows are many, and two
// looks at the clock take as long as a short one.
enum { CALLS = 16 };

// Coarse: rows are many.
static int64_t coarse(void) { return milliseconds(CLOCK_MONOTONIC_COARSE); }

// Pays for the time by the clock, as far as this thread had a processor in it: not for a disk that
// stands still, other programs, or a process that is stopped.
static void pay(godwit_sqlite_budget *budget) {
    int64_t processor = milliseconds(CLOCK_THREAD_CPUTIME_ID), worked = budget->pending;
    if (budget->thread == thread_number()) worked = processor - budget->processor;
    budget->used += worked < budget->pending ? worked : budget->pending;
    budget->pending = 0;
    budget->processor = processor;
    budget->thread = thread_number();
}

static int is_spent(void *context) {
    godwit_sqlite_budget *budget = context;
    int64_t now = coarse();
    budget->pending += now - budget->last;
    budget->last = now;
    if (budget->pending > PENDING || budget->used + budget->pending > budget->limit) pay(budget);
    budget->wrote += written - budget->before;
    budget->before = written;
    if (godwit_sqlite_stop_is_set(budget->stop)) return 1;
    return budget->used > budget->limit || (budget->room > 0 && budget->wrote > budget->room);
}

godwit_sqlite_budget *godwit_sqlite_budget_new(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin_watch);
    godwit_sqlite_budget *budget = calloc(1, sizeof(godwit_sqlite_budget));
    if (budget == NULL) return NULL;
    godwit_sqlite_stop_retain(current_stop);
    budget->stop = current_stop;
    pthread_mutex_lock(&watch);
    budget->next = all;
    if (all != NULL) all->previous = budget;
    all = budget;
    pthread_mutex_unlock(&watch);
    return budget;
}

void godwit_sqlite_budget_free(godwit_sqlite_budget *budget) {
    pthread_mutex_lock(&watch);
    if (budget->next != NULL) budget->next->previous = budget->previous;
    if (budget->previous != NULL) budget->previous->next = budget->next;
    if (all == budget) all = budget->next;
    pthread_mutex_unlock(&watch);
    godwit_sqlite_stop_release(budget->stop);
    free(budget);
}

static void set(godwit_sqlite_budget *budget, sqlite3 *connection, int64_t limit) {
    budget->used = 0;
    budget->pending = 0;
    budget->room = 0;
    budget->wrote = 0;
    budget->before = written;
    budget->last = coarse();
    budget->processor = milliseconds(CLOCK_THREAD_CPUTIME_ID);
    budget->thread = thread_number();
    budget->caller = 0;
    if (limit > 0) {
        sqlite3_progress_handler(connection, INSTRUCTIONS, is_spent, budget);
    } else {
        sqlite3_progress_handler(connection, 0, NULL, NULL);
    }
}

void godwit_sqlite_budget_set(
    godwit_sqlite_budget *budget, sqlite3 *connection, int64_t limit) {
    watch_over(budget, limit > 0 ? connection : NULL, limit);
    set(budget, connection, limit);
}

void godwit_sqlite_budget_retire(godwit_sqlite_budget *budget) {
    watch_over(budget, NULL, budget->limit);
    godwit_sqlite_budget_connect(budget, NULL);
}

static void begin_timing(godwit_sqlite_budget *budget) {
    budget->last = coarse();
    budget->before = written;
    if (budget->caller == thread_number()) return;
    budget->caller = thread_number();
    clockid_t clock;
    if (pthread_getcpuclockid(pthread_self(), &clock) == 0) {
        atomic_store_explicit(&budget->clock, clock, memory_order_relaxed);
    }
}

static inline void begin(godwit_sqlite_budget *budget) {
    if (budget->limit == 0) return;
    if (budget->calls % CALLS == 0 || budget->room > 0 || budget->caller != thread_number()) {
        begin_timing(budget);
    }
    atomic_store_explicit(&budget->call, ++budget->calls, memory_order_release);
    godwit_sqlite_bound_small(budget);
}

static inline int end(godwit_sqlite_budget *budget) {
    if (budget->limit == 0) return 0;
    atomic_store_explicit(&budget->call, 0, memory_order_relaxed);
    godwit_sqlite_bound_small(NULL);
    int ends_timing = budget->calls % CALLS == 0 || budget->room > 0
        || atomic_load_explicit(&budget->is_long, memory_order_relaxed) != 0;
    if (!ends_timing) return budget->used > budget->limit;
    atomic_store_explicit(&budget->is_long, 0, memory_order_relaxed);
    return is_spent(budget);
}

void godwit_sqlite_budget_begin(godwit_sqlite_budget *budget) { begin(budget); }

int godwit_sqlite_budget_end(godwit_sqlite_budget *budget) { return end(budget); }

int godwit_sqlite_budget_step(godwit_sqlite_budget *budget, sqlite3_stmt *statement) {
    if (godwit_sqlite_stop_is_set(budget->stop)) return SQLITE_INTERRUPT;
    begin(budget);
    int code = sqlite3_step(statement);
    int is_spent = end(budget);
    return code == SQLITE_ROW && is_spent ? SQLITE_INTERRUPT : code;
}

void godwit_sqlite_budget_set_room(godwit_sqlite_budget *budget, int64_t room) {
    budget->room = room;
}

// What this thread opens reads the schema, which may have no end, before there is a connection.
static _Thread_local godwit_sqlite_budget *opening;
static _Thread_local int64_t opening_limit;

static int bound_opening(sqlite3 *connection, char **message, const void *routines) {
    (void)message;
    (void)routines;
    if (opening == NULL) return SQLITE_OK;
    // A connection that cannot be opened is closed before this is told.
    watch_over(opening, NULL, opening_limit);
    set(opening, connection, opening_limit);
    return SQLITE_OK;
}

int godwit_sqlite_bound_openings(void) {
    return sqlite3_auto_extension((void (*)(void))bound_opening);
}

void godwit_sqlite_budget_open(godwit_sqlite_budget *budget, int64_t limit) {
    opening = budget;
    opening_limit = limit;
    godwit_sqlite_bound_small(budget);
}

void godwit_sqlite_budget_exhaust(godwit_sqlite_budget *budget) {
    budget->used = budget->limit + 1;
}

int64_t godwit_sqlite_budget_limit(const godwit_sqlite_budget *budget) { return budget->limit; }

int godwit_sqlite_budget_is_spent(godwit_sqlite_budget *budget) {
    return budget->limit > 0 && is_spent(budget);
}
