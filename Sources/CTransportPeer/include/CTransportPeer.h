/// A router that hands out jobs to dealers, in plain C: what ours is measured against.
#ifndef CTRANSPORT_PEER_H
#define CTRANSPORT_PEER_H

#include <stddef.h>
#include <stdint.h>

/// What is sent, and how often.
struct ctransport_load {
    int workers;
    /// Jobs that each worker has under way.
    int window;
    int64_t jobs;
    size_t job_bytes;
    size_t done_bytes;
    int io_threads;
};

/// Nanoseconds from the moment when all workers are ready until all jobs are done, or the
/// negated errno.
int64_t ctransport_run(const struct ctransport_load *_Nonnull load);

#endif
