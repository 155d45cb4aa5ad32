#ifndef GODWIT_BUDGET_H
#define GODWIT_BUDGET_H

#include <stdint.h>

/// Limits the memory that SQLite has in this process for what is large: values and buffers of 64
/// KiB or more, in bytes. To be called before SQLite starts; returns an SQLite result code.
int godwit_sqlite_limit_memory(int64_t limit);

#endif
