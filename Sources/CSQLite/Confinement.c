#define _GNU_SOURCE
#include "Confinement.h"

#include "CSQLite.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int is_confined;

void godwit_sqlite_confine(void) { atomic_store(&is_confined, 1); }

// A database that some connection has open, or is about to open.
typedef struct announced {
    struct announced *next;
    size_t length;
    long count;
    char path[];
} announced;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static announced *first;

static int is_same(const announced *entry, const unsigned char *path, size_t length) {
    return entry->length == length && memcmp(entry->path, path, length) == 0;
}

int godwit_sqlite_announce(const unsigned char *path, size_t length) {
    int result = SQLITE_OK;
    pthread_mutex_lock(&lock);
    announced *entry = first;
    while (entry != NULL && !is_same(entry, path, length)) entry = entry->next;
    if (entry == NULL && (entry = malloc(sizeof *entry + length)) != NULL) {
        entry->length = length;
        entry->count = 0;
        memcpy(entry->path, path, length);
        entry->next = first;
        first = entry;
    }
    if (entry != NULL) entry->count++;
    else result = SQLITE_NOMEM;
    pthread_mutex_unlock(&lock);
    return result;
}

void godwit_sqlite_withdraw(const unsigned char *path, size_t length) {
    pthread_mutex_lock(&lock);
    for (announced **place = &first; *place != NULL; place = &(*place)->next) {
        announced *entry = *place;
        if (!is_same(entry, path, length)) continue;
        if (--entry->count == 0) {
            *place = entry->next;
            free(entry);
        }
        break;
    }
    pthread_mutex_unlock(&lock);
}

// Whether a path is that of an announced database or of a file that SQLite keeps beside it.
static int is_announced(const char *path) {
    static const char *const endings[] = {"", "-journal", "-wal", "-shm"};
    int found = 0;
    pthread_mutex_lock(&lock);
    for (announced *entry = first; entry != NULL && !found; entry = entry->next) {
        if (strncmp(entry->path, path, entry->length) != 0) continue;
        for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
            if (strcmp(path + entry->length, endings[i]) == 0) found = 1;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

// Whether SQLite made up the name, of a file that it opens once, exclusively, and removes at once.
static int is_temporary(const char *path) {
    const char *name = strrchr(path, '/');
    return strncmp(name == NULL ? path : name + 1, "etilqs_", 7) == 0;
}

static int open_linkless(const char *path, int flags, int mode) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = (unsigned)flags;
    how.mode = flags & O_CREAT ? (unsigned)mode : 0;
    how.resolve = RESOLVE_NO_SYMLINKS;
    long result;
    do {
        result = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    } while (result < 0 && errno == EINTR);
    return (int)result;
}

// Opens a regular file. A pipe in its place would block open(2) without end, so it never waits; and
// where another program holds a lease on the file, opening is tried again for ten seconds.
static int open_regular(const char *path, int flags, int mode) {
    const struct timespec pause = {0, 10 * 1000 * 1000};
    int file = open_linkless(path, flags | O_NONBLOCK, mode);
    for (int tries = 0; file < 0 && errno == EWOULDBLOCK && tries < 1000; tries++) {
        nanosleep(&pause, NULL);
        file = open_linkless(path, flags | O_NONBLOCK, mode);
    }
    if (file < 0) return file;
    struct stat status;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) return file;
    close(file);
    errno = EACCES;
    return -1;
}

int godwit_confined_open(const char *path, int flags, int mode) {
    if (!atomic_load(&is_confined)) return open(path, flags, mode);
    if (is_announced(path) || ((flags & O_EXCL) && is_temporary(path))) {
        return open_regular(path, flags, mode);
    }
    if (strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/null") == 0) {
        return open_linkless(path, flags, mode);
    }
    if (!(flags & O_CREAT) && (flags & O_ACCMODE) == O_RDONLY) {
        // A folder, to sync the names in it. A journal may name any file.
        int folder = open_linkless(path, flags | O_DIRECTORY, mode);
        if (folder >= 0 || errno != ENOTDIR) return folder;
    }
    errno = EACCES;
    return -1;
}

int godwit_confined_unlink(const char *path) {
    if (!atomic_load(&is_confined)) return unlink(path);
    const char *name = strrchr(path, '/');
    if (name == NULL || (!is_announced(path) && !is_temporary(path))) {
        errno = EACCES;
        return -1;
    }
    char *parent = strndup(path, (size_t)(name - path) + 1);
    if (parent == NULL) return -1;
    int folder = open_linkless(parent, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    free(parent);
    if (folder < 0) return -1;
    int result = unlinkat(folder, name + 1, 0);
    int number = errno;
    close(folder);
    errno = number;
    return result;
}

int godwit_confined_lstat(const char *path, struct stat *status) {
    int result = lstat(path, status);
    if (result != 0 || !S_ISLNK(status->st_mode) || !atomic_load(&is_confined)) return result;
    // SQLite would follow it and open what it leads to.
    errno = ELOOP;
    return -1;
}
