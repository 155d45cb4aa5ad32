#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HOLD = 1, ADMIT = 2, ABANDON = 3, KEEP = 4 };

/// Files that are held at a time: more are not taken, which leaves them as they were without a
/// guardian.
enum { MOST = 512 };

/// How long a file that was abandoned is kept for programs that looked its name up before, in
/// milliseconds, and the time between two looks.
enum { GRACE = 250, INTERVAL = 20 };

struct message {
    uint64_t number;
    uint32_t kind;
    char path[PATH_MAX];
};

struct held {
    uint64_t number;
    int descriptor;
    int is_abandoned;
    /// The file until whose last user it is kept; negative where it is kept for its own users.
    int other;
    /// Whether those who waited for it were let in.
    int is_open;
    int64_t since;
    dev_t device;
    ino_t inode;
    char path[PATH_MAX];
};

// In the guardian alone.
static struct held *files[MOST];

static void drop(struct held **place) {
    close((*place)->descriptor);
    if ((*place)->other >= 0) close((*place)->other);
    free(*place);
    *place = NULL;
}

static void abandon(struct held **place) {
    struct held *held = *place;
    struct stat named;
    // The right against other runs concerns the name.
    flock(held->descriptor, LOCK_UN);
    if (stat(held->path, &named) == 0 && named.st_dev == held->device &&
        named.st_ino == held->inode) {
        return drop(place);
    }
    held->is_abandoned = 1;
    held->since = clinux_monotonic();
}

/// Looks at a file that was abandoned.
static void look(struct held **place) {
    struct held *held = *place;
    if (held->other >= 0) {
        // Readers do no harm, and another guardian may be one.
        if (clinux_lease_probe(held->other) != -EAGAIN) drop(place);
        return;
    }
    if (!held->is_open) {
        if (clinux_lease_is_whole(held->descriptor)) {
            // No program has come, and none can that looked the name up before, unless the system
            // holds one up before it waits for the lease: then it grants none again.
            if (clinux_monotonic() - held->since >= GRACE &&
                clinux_lease(held->descriptor) != -EAGAIN) {
                drop(place);
            }
            return;
        }
        // Let in, and kept from reading and writing by the lock bytes.
        clinux_lease_release(held->descriptor);
        held->is_open = 1;
        return;
    }
    if (clinux_lease(held->descriptor) != -EAGAIN) drop(place);
}

static void take(const struct message *message, int descriptor) {
    struct stat status;
    for (int place = 0; place < MOST; place++) {
        if (files[place] != NULL) continue;
        struct held *held = malloc(sizeof *held);
        if (held == NULL || fstat(descriptor, &status) != 0) {
            free(held);
            break;
        }
        memset(held, 0, sizeof *held);
        held->number = message->number;
        held->descriptor = descriptor;
        held->other = -1;
        held->device = status.st_dev;
        held->inode = status.st_ino;
        memcpy(held->path, message->path, sizeof held->path);
        held->path[PATH_MAX - 1] = 0;
        files[place] = held;
        return;
    }
    close(descriptor);
}

/// Keeps a file until no program has another one open for writing.
static void keep(struct held *held, int other) {
    held->other = other;
    held->is_abandoned = 1;
}

/// Receives one message; 0 once the other end is closed.
static int receive(int socket) {
    struct message message;
    memset(&message, 0, sizeof message);
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr alignment;
    } control;
    struct iovec part = {&message, sizeof message};
    struct msghdr header = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
        .msg_controllen = sizeof control.bytes};
    ssize_t count;
    do count = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    if (count <= 0) return 0;
    struct cmsghdr *attached = CMSG_FIRSTHDR(&header);
    int descriptor = -1;
    if (attached != NULL && attached->cmsg_type == SCM_RIGHTS) {
        memcpy(&descriptor, CMSG_DATA(attached), sizeof descriptor);
    }
    if (message.kind == HOLD && descriptor >= 0) take(&message, descriptor);
    for (int place = 0; message.kind != HOLD && place < MOST; place++) {
        if (files[place] == NULL || files[place]->number != message.number) continue;
        if (message.kind == ADMIT) drop(&files[place]);
        else if (message.kind == KEEP) keep(files[place], descriptor);
        else abandon(&files[place]);
    }
    return 1;
}

static _Noreturn void guard(int socket) {
    static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGURG, SIGIO};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; number++) sigaction(number, &action, NULL);
    action.sa_handler = SIG_IGN;
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
        sigaction(ignored[i], &action, NULL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    prctl(PR_SET_NAME, CLINUX_GUARDIAN_NAME);
    // Nothing of the parent's stays open: its locks go with it.
    if (dup2(socket, 3) < 0 || syscall(SYS_close_range, 4U, ~0U, 0U) != 0) _exit(1);
    int nothing = open("/dev/null", O_RDWR);
    for (int number = 0; nothing >= 0 && number < 3; number++) dup2(nothing, number);
    if (nothing > 3) close(nothing);
    if (chdir("/") != 0) _exit(1);
    if (send(3, "", 1, MSG_NOSIGNAL) != 1) _exit(1);
    int is_told = 1;
    for (;;) {
        int is_watching = 0, is_holding = 0;
        for (int place = 0; place < MOST; place++) {
            if (files[place] == NULL) continue;
            if (files[place]->is_abandoned) look(&files[place]);
            if (files[place] == NULL) continue;
            is_holding = 1;
            if (files[place]->is_abandoned) is_watching = 1;
        }
        if (!is_told && !is_holding) _exit(0);
        struct pollfd wanted = {3, POLLIN, 0};
        poll(&wanted, is_told ? 1 : 0, is_watching ? INTERVAL : -1);
        if (!is_told || wanted.revents == 0 || receive(3)) continue;
        is_told = 0;
        for (int place = 0; place < MOST; place++) {
            if (files[place] != NULL && !files[place]->is_abandoned) abandon(&files[place]);
        }
    }
}

int clinux_guardian_start(void) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return -errno;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    // Twice, so that the system reaps the guardian, whatever becomes of this process.
    pid_t child = fork();
    int number = errno;
    if (child == 0) {
        pid_t guardian = fork();
        if (guardian == 0) guard(pair[1]);
        _exit(guardian < 0 ? 1 : 0);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(pair[1]);
    int status = 1;
    if (child >= 0) {
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    }
    // Until then it has every file of this process open, under the name of one of its threads, and
    // another thread would find a store in use.
    char ready;
    ssize_t count = -1;
    if (child >= 0 && status == 0) {
        do count = recv(pair[0], &ready, 1, 0);
        while (count < 0 && errno == EINTR);
    }
    if (count == 1) return pair[0];
    close(pair[0]);
    return child < 0 ? -number : -EAGAIN;
}

static int tell(int socket, struct message *message, int descriptor) {
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr alignment;
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {message, offsetof(struct message, path) + strlen(message->path) + 1};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        header.msg_control = control.bytes;
        header.msg_controllen = sizeof control.bytes;
        struct cmsghdr *attached = CMSG_FIRSTHDR(&header);
        attached->cmsg_level = SOL_SOCKET;
        attached->cmsg_type = SCM_RIGHTS;
        attached->cmsg_len = CMSG_LEN(sizeof descriptor);
        memcpy(CMSG_DATA(attached), &descriptor, sizeof descriptor);
    }
    ssize_t count;
    do count = sendmsg(socket, &header, MSG_NOSIGNAL);
    while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : 0;
}

int clinux_guardian_hold(int socket, uint64_t number, int descriptor, const char *path) {
    struct message message = {.number = number, .kind = HOLD};
    if (strlen(path) >= sizeof message.path) return -ENAMETOOLONG;
    strcpy(message.path, path);
    return tell(socket, &message, descriptor);
}

int clinux_guardian_admit(int socket, uint64_t number) {
    struct message message = {.number = number, .kind = ADMIT};
    return tell(socket, &message, -1);
}

int clinux_guardian_abandon(int socket, uint64_t number) {
    struct message message = {.number = number, .kind = ABANDON};
    return tell(socket, &message, -1);
}

int clinux_guardian_keep(int socket, uint64_t number, int other) {
    struct message message = {.number = number, .kind = KEEP};
    return tell(socket, &message, other);
}
