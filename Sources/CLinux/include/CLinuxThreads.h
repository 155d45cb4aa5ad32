/// Threads, and a mutex with two conditions.
#ifndef CLINUX_THREADS_H
#define CLINUX_THREADS_H

#include <stddef.h>
#include <stdint.h>

/// Starts a thread with every signal blocked, so that signals reach the main thread.
///
/// `stack_bytes` of 0 means the system's default. The handle must be joined.
int clinux_thread_start(
    uint64_t *_Nonnull thread, size_t stack_bytes,
    void *_Nullable (*_Nonnull body)(void *_Nullable), void *_Nullable argument);
int clinux_thread_join(uint64_t thread);
/// 1 where the handle is the calling thread's.
int clinux_thread_is_current(uint64_t thread);
/// Names the calling thread; Linux keeps 15 bytes, the rest is cut.
int clinux_thread_set_name(const char *_Nonnull name);
/// The calling thread's name, terminated; `size` is 16 or more.
int clinux_thread_name(char *_Nonnull buffer, size_t size);

/// A mutex with two conditions, numbered 0 and 1; waits are timed by the monotonic clock.
struct clinux_monitor;

/// NULL where memory has run out.
struct clinux_monitor *_Nullable clinux_monitor_create(void);
void clinux_monitor_destroy(struct clinux_monitor *_Nonnull monitor);
void clinux_monitor_lock(struct clinux_monitor *_Nonnull monitor);
void clinux_monitor_unlock(struct clinux_monitor *_Nonnull monitor);
void clinux_monitor_wait(struct clinux_monitor *_Nonnull monitor, int condition);
/// Waits until signalled or until the monotonic clock reaches the deadline (nanoseconds);
/// 0 or -ETIMEDOUT.
int clinux_monitor_wait_until(
    struct clinux_monitor *_Nonnull monitor, int condition, int64_t deadline);
void clinux_monitor_signal(struct clinux_monitor *_Nonnull monitor, int condition);
void clinux_monitor_broadcast(struct clinux_monitor *_Nonnull monitor, int condition);
/// The monotonic clock in nanoseconds.
int64_t clinux_monotonic_nanoseconds(void);

#endif
