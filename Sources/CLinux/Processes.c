#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/// The environment, but for Swift's backtraces: they take seconds and show memory.
static char **child_environment(void) {
    static char off[] = "SWIFT_BACKTRACE=enable=no";
    size_t count = 0;
    while (environ != NULL && environ[count] != NULL) count++;
    char **copy = calloc(count + 2, sizeof *copy);
    if (copy == NULL) return NULL;
    size_t place = 0;
    for (size_t index = 0; index < count; index++) {
        if (strncmp(environ[index], "SWIFT_BACKTRACE=", 16) == 0) continue;
        copy[place++] = environ[index];
    }
    copy[place] = off;
    return copy;
}

/// Gives the child descriptors 0 to 2, and 3 where one is given, keeps `report` as 4 until exec,
/// and closes the rest.
static int arrange_descriptors(const char *input, int given, int report, int *step) {
    // Out of the way first, for either may have one of the numbers that are wanted.
    int high_given = given < 0 ? -1 : fcntl(given, F_DUPFD_CLOEXEC, 10);
    int high_report = fcntl(report, F_DUPFD_CLOEXEC, 10);
    if ((given >= 0 && high_given < 0) || high_report < 0) return -1;
    *step = CLINUX_CHILD_OPENING_INPUT;
    int nothing = open(input, O_RDWR | O_CLOEXEC);
    if (nothing < 0) return -1;
    *step = CLINUX_CHILD_PREPARING;
    if (dup2(nothing, 0) < 0) return -1;
    // Without an error output of the parent, what is said goes nowhere.
    if (fcntl(2, F_GETFD) < 0 && dup2(nothing, 2) < 0) return -1;
    if (dup2(2, 1) < 0) return -1;
    if (given < 0) close(3);
    else if (dup2(high_given, 3) < 0) return -1;
    if (dup3(high_report, 4, O_CLOEXEC) < 0) return -1;
    if (syscall(SYS_close_range, 5U, ~0U, 0U) == 0) return 0;
    long limit = sysconf(_SC_OPEN_MAX);
    for (int descriptor = 5; descriptor < limit; descriptor++) close(descriptor);
    return 0;
}

/// What a child says that did not become the other program; it fits into a pipe at once.
struct failure {
    int number;
    int step;
};

/// What the child does between fork and exec: system calls alone, for other threads of the
/// parent may have held any lock.
static _Noreturn void become(
    const struct clinux_child *child, char **environment, int report, pid_t parent) {
    struct sigaction standard;
    memset(&standard, 0, sizeof standard);
    standard.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);
    struct rlimit no_core = {0, 0};
    struct rlimit space = {child->address_space, child->address_space};
    // No process has more, and the thread sanitizer refuses any limit.
    int is_unlimited = child->address_space == 0 || child->address_space >> 47 != 0;
    // The parent may have died before the kernel was asked to tell.
    int is_ready = setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
        getppid() == parent && setrlimit(RLIMIT_CORE, &no_core) == 0 &&
        (is_unlimited || setrlimit(RLIMIT_AS, &space) == 0);
    struct failure failure = {0, CLINUX_CHILD_PREPARING};
    if (is_ready &&
        arrange_descriptors(child->input, child->descriptor, report, &failure.step) == 0) {
        report = 4;
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        failure.step = CLINUX_CHILD_ENTERING_FOLDER;
        if (child->folder == NULL || chdir(child->folder) == 0) {
            failure.step = CLINUX_CHILD_BECOMING;
            execve(child->path, child->arguments, environment);
        }
    }
    failure.number = errno == 0 ? ESRCH : errno;
    if (write(report, &failure, sizeof failure) < 0) _exit(126);
    _exit(127);
}

int64_t clinux_child_start(const struct clinux_child *child, int *step) {
    int report[2];
    *step = CLINUX_CHILD_PREPARING;
    // Where it is ignored, the kernel forgets how children end (wait(2)).
    struct sigaction child_ends;
    if (sigaction(SIGCHLD, NULL, &child_ends) == 0 && child_ends.sa_handler == SIG_IGN) {
        child_ends.sa_handler = SIG_DFL;
        sigaction(SIGCHLD, &child_ends, NULL);
    }
    if (pipe2(report, O_CLOEXEC) != 0) return -errno;
    char **environment = child_environment();
    pid_t parent = getpid();
    // No handler of ours may run in the child before it has its own dispositions.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t started = environment == NULL ? -1 : fork();
    int refusal = environment == NULL ? ENOMEM : errno;
    if (started == 0) become(child, environment, report[1], parent);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(environment);
    close(report[1]);
    if (started < 0) {
        close(report[0]);
        return -refusal;
    }
    struct failure failure = {0, CLINUX_CHILD_PREPARING};
    ssize_t count;
    // The pipe closes without a word when the child becomes the other program.
    do count = read(report[0], &failure, sizeof failure);
    while (count < 0 && errno == EINTR);
    close(report[0]);
    if (count == 0) return started;
    while (waitpid(started, NULL, 0) < 0 && errno == EINTR) {
    }
    *step = failure.step;
    return failure.number > 0 ? -failure.number : -ECHILD;
}

int clinux_child_signal(int64_t child, int number) {
    return kill(-(pid_t)child, number) == 0 ? 0 : -errno;
}

int clinux_child_reap(int64_t child, int waits, int *exit_code, int *signal_number) {
    int status = 0;
    pid_t result;
    do result = waitpid((pid_t)child, &status, waits ? 0 : WNOHANG);
    while (result < 0 && errno == EINTR);
    if (result < 0) return -errno;
    if (result == 0) return 0;
    *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    *signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return 1;
}

int clinux_child_descriptor(int64_t child) {
    // Close-on-exec by itself (pidfd_open(2)).
    long descriptor = syscall(SYS_pidfd_open, (pid_t)child, 0U);
    return descriptor >= 0 ? (int)descriptor : -errno;
}

int clinux_socket_pair(int *first, int *second) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return -errno;
    int flags = fcntl(pair[0], F_GETFL);
    if (flags < 0 || fcntl(pair[0], F_SETFL, flags | O_NONBLOCK) != 0) {
        int failure = errno;
        close(pair[0]);
        close(pair[1]);
        return -failure;
    }
    *first = pair[0];
    *second = pair[1];
    return 0;
}

int64_t clinux_socket_send(int descriptor, const void *bytes, size_t count) {
    ssize_t sent;
    do sent = send(descriptor, bytes, count, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent >= 0 ? sent : -errno;
}

int64_t clinux_socket_receive(int descriptor, void *buffer, size_t size) {
    ssize_t received;
    do received = recv(descriptor, buffer, size, 0);
    while (received < 0 && errno == EINTR);
    return received >= 0 ? received : -errno;
}

int clinux_wait_readable(int descriptor, int milliseconds) {
    struct pollfd wanted = {descriptor, POLLIN, 0};
    int count = poll(&wanted, 1, milliseconds);
    // An interruption counts as time that is over: who calls this looks at a clock anyway.
    if (count < 0) return errno == EINTR ? 0 : -errno;
    return count;
}

int clinux_poll_set_create(void) {
    int set = epoll_create1(EPOLL_CLOEXEC);
    return set >= 0 ? set : -errno;
}

static int control(int set, int action, int descriptor, uint64_t number, uint32_t events) {
    struct epoll_event event = {.events = events, .data = {.u64 = number}};
    return epoll_ctl(set, action, descriptor, &event) == 0 ? 0 : -errno;
}

int clinux_poll_set_add(int set, int descriptor, uint64_t number) {
    return control(set, EPOLL_CTL_ADD, descriptor, number, EPOLLIN);
}

int clinux_poll_set_change(int set, int descriptor, uint64_t number, int wants_writing) {
    uint32_t events = wants_writing ? EPOLLIN | EPOLLOUT : EPOLLIN;
    return control(set, EPOLL_CTL_MOD, descriptor, number, events);
}

int clinux_poll_set_remove(int set, int descriptor) {
    return control(set, EPOLL_CTL_DEL, descriptor, 0, 0);
}

int clinux_poll_set_wait(int set, uint64_t *numbers, int count, int milliseconds) {
    struct epoll_event events[64];
    int most = count < 64 ? count : 64;
    int ready = epoll_wait(set, events, most, milliseconds);
    if (ready < 0) return errno == EINTR ? 0 : -errno;
    for (int place = 0; place < ready; place++) numbers[place] = events[place].data.u64;
    return ready;
}

void clinux_exit(int exit_code) { _exit(exit_code); }
