#define _GNU_SOURCE
#include "Links.h"

#include "CSQLite.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int refuses_links;

void godwit_sqlite_refuse_links(void) { atomic_store(&refuses_links, 1); }

int godwit_linkless_open(const char *path, int flags, int mode) {
    if (!atomic_load(&refuses_links)) return open(path, flags, mode);
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

int godwit_linkless_lstat(const char *path, struct stat *status) {
    int result = lstat(path, status);
    if (result != 0 || !S_ISLNK(status->st_mode) || !atomic_load(&refuses_links)) return result;
    // SQLite would follow it and open what it leads to.
    errno = ELOOP;
    return -1;
}
