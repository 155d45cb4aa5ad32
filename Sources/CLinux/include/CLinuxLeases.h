/// Leases: whether anybody has a file open, and who.
#ifndef CLINUX_LEASES_H
#define CLINUX_LEASES_H

#include <stddef.h>
#include <stdint.h>

/// Takes a write lease (fcntl(2), F_SETLEASE) on an open file, without waiting.
///
/// -EAGAIN where any other description of the file is open, in this process or another; -EACCES
/// for a file of another owner without CAP_LEASE; -EINVAL where the file system has no leases.
/// While it is held, open(2) by anybody waits, or fails with EWOULDBLOCK if it must not. The
/// kernel reports a break by SIGURG, which is ignored by default; ask with clinux_lease_is_whole.
int clinux_lease(int descriptor);
/// 0 where a file that is open for reading alone can carry leases, else as clinux_lease; -EAGAIN
/// where a program has it open for writing. Nothing is held afterwards.
int clinux_lease_probe(int descriptor);
/// 1 while the lease is held and no program waits for it, else 0.
int clinux_lease_is_whole(int descriptor);
/// Gives the lease back, so that those who wait may open the file.
int clinux_lease_release(int descriptor);

/// The file that a link of /proc leads to, as it is written there; returns the length.
int64_t clinux_read_link(const char *path, char *buffer, size_t size);
/// Another descriptor of the same open file description, closed on exec.
int clinux_duplicate(int descriptor);
/// Sleeps for so many milliseconds; signals do not end it early.
void clinux_sleep(int64_t milliseconds);
/// Milliseconds since a point in the past that never moves (CLOCK_MONOTONIC).
int64_t clinux_monotonic(void);

#endif
