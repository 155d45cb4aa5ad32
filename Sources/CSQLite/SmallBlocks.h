#ifndef GODWIT_SMALL_BLOCKS_H
#define GODWIT_SMALL_BLOCKS_H

#include <stddef.h>

// Memory in which each thread keeps a few small blocks that were freed, for the next ones of their
// size. SQLite has that as its lookaside memory, which Debian's is compiled without; a prepared
// statement takes hundreds of them, far more than the C library keeps.

/// As malloc(3); a size is never 0.
void *godwit_block_new(size_t size);

/// As free(3), with the size that was asked for.
void godwit_block_free(void *memory, size_t size);

/// As realloc(3), with the size that was asked for.
void *godwit_block_resize(void *memory, size_t before, size_t size);

#endif
