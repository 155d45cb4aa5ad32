/// Child processes, the sockets between them and their parent, and waiting for many descriptors.
#ifndef CLINUX_PROCESSES_H
#define CLINUX_PROCESSES_H

#include <stddef.h>
#include <stdint.h>

/// What failed of starting a child.
enum {
    /// The system refused a process, or one of its settings.
    CLINUX_CHILD_PREPARING = 1,
    /// The file that is to be its input could not be opened.
    CLINUX_CHILD_OPENING_INPUT = 2,
    /// It could not become the other program.
    CLINUX_CHILD_BECOMING = 3,
    /// Its working folder could not be entered.
    CLINUX_CHILD_ENTERING_FOLDER = 4
};

/// How a child process is started.
struct clinux_child {
    const char *_Nonnull path;
    /// What it has as input, and as error output where this process has none: /dev/null.
    const char *_Nonnull input;
    /// Terminated by NULL; the first is the program's name.
    char *_Nullable const *_Nonnull arguments;
    /// Its working folder; NULL for this process's own.
    const char *_Nullable folder;
    /// What becomes the child's descriptor 3; negative for none.
    int descriptor;
    /// The child's limit of address space in bytes; 0 for none.
    uint64_t address_space;
};

/// Starts a child; returns its process id once it has become the other program.
///
/// Where that fails, the negated errno is returned and `step` says what failed.
///
/// The child leads a process group of its own, blocks and ignores no signals, has this process's
/// error output as both outputs, and no other descriptors than its input and the one that it is
/// given. It leaves no core file and no backtrace, which would hold users' data. It
/// is killed when the thread that called this ends: a thread that starts children lives as long
/// as they do.
int64_t clinux_child_start(const struct clinux_child *_Nonnull child, int *_Nonnull step);
/// Sends a signal to the process group of a child that has not been reaped.
int clinux_child_signal(int64_t child, int number);
/// Reaps a child: 1 once it has ended, with its exit code, or with the number of the signal that
/// ended it; 0 while it runs. With `waits` it is waited for.
int clinux_child_reap(
    int64_t child, int waits, int *_Nonnull exit_code, int *_Nonnull signal_number);
/// A descriptor that becomes readable when the child ends.
int clinux_child_descriptor(int64_t child);

/// A pair of connected stream sockets; the first is non-blocking, both are closed on exec.
int clinux_socket_pair(int *_Nonnull first, int *_Nonnull second);
/// Sends what fits; -EAGAIN where nothing does, -EPIPE where no process receives any more.
int64_t clinux_socket_send(int descriptor, const void *_Nonnull bytes, size_t count);
/// Receives what is there; 0 at the end, -EAGAIN where a non-blocking socket has nothing.
int64_t clinux_socket_receive(int descriptor, void *_Nonnull buffer, size_t size);
/// Waits until the descriptor is readable or closed: 1, or 0 once the time is over.
int clinux_wait_readable(int descriptor, int milliseconds);

/// An epoll(7) set, itself a descriptor that is readable while one of its members is ready.
int clinux_poll_set_create(void);
/// Adds a descriptor with a number that `clinux_poll_set_wait` gives back.
int clinux_poll_set_add(int set, int descriptor, uint64_t number);
/// Says whether the set also waits until the descriptor can be written.
int clinux_poll_set_change(int set, int descriptor, uint64_t number, int wants_writing);
int clinux_poll_set_remove(int set, int descriptor);
/// Waits for members that are ready; returns how many numbers it wrote. -1 waits without limit.
int clinux_poll_set_wait(
    int set, uint64_t *_Nonnull numbers, int count, int milliseconds);

/// Lets this process end with `exit_code` where a crash shows that memory had run out.
///
/// The evidence is the crashed thread's errno, which a refused allocation leaves as ENOMEM, or an
/// address space within `margin` bytes of its limit. Any other crash ends the process by its
/// signal as before.
void clinux_tell_exhausted_memory(int exit_code, uint64_t margin);

/// Bytes of memory that this process may have at most: the machine's, or less where a control group
/// of version 2 limits it.
uint64_t clinux_memory_limit(void);

/// The most processes below this one whose bytes are counted while they run.
#define CLINUX_DESCENDANTS 16
/// Bytes that this process and those below it have read and written by system calls (proc(5), io);
/// returns 0, or the negated errno where the kernel does not count them.
int clinux_process_traffic(uint64_t *_Nonnull read, uint64_t *_Nonnull written);
/// Bytes of this process's address space.
int64_t clinux_address_space_size(void);
/// Ends this process at once, without running anything more.
_Noreturn void clinux_exit(int exit_code);

#endif
