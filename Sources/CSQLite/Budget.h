#ifndef GODWIT_BUDGET_H
#define GODWIT_BUDGET_H

#include "CSQLite.h"

#include <stdint.h>

/// Counts the memory that SQLite has in this process. To be called once, before SQLite starts;
/// returns an SQLite result code.
int godwit_sqlite_count_memory(void);

/// Limits what is large of it: values and buffers of 64 KiB or more, in bytes.
void godwit_sqlite_limit_memory(int64_t limit);

/// Lets `godwit_sqlite_budget_open` bound what is opened; once, when SQLite's settings are made.
/// Returns an SQLite result code.
int godwit_sqlite_bound_openings(void);

/// What small allocations of this thread hold, in bytes, and what they held when they were bounded.
extern _Thread_local int64_t godwit_sqlite_small, godwit_sqlite_small_before;
/// The budget that bounds them; NULL for none.
extern _Thread_local godwit_sqlite_budget *godwit_sqlite_bounded;

/// Bounds the small allocations of this thread's calls until it is called with NULL.
static inline void godwit_sqlite_bound_small(godwit_sqlite_budget *budget) {
    godwit_sqlite_bounded = budget;
    godwit_sqlite_small_before = godwit_sqlite_small;
}

/// Has the limit of a budget passed.
void godwit_sqlite_budget_exhaust(godwit_sqlite_budget *budget);

/// Counts bytes that this thread has written.
void godwit_sqlite_wrote(int64_t count);

#endif
