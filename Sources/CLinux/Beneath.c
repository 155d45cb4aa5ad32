#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

const uint64_t clinux_resolve_beneath = RESOLVE_BENEATH;
const uint64_t clinux_resolve_no_symlinks = RESOLVE_NO_SYMLINKS;
const uint64_t clinux_resolve_no_magiclinks = RESOLVE_NO_MAGICLINKS;
const uint64_t clinux_resolve_no_mounts = RESOLVE_NO_XDEV;
const int clinux_path_only = O_PATH;

/// How often a resolution that a rename elsewhere disturbed is repeated (openat2(2), EAGAIN).
static const int disturbances = 1000;

int clinux_open_beneath(int folder, const char *path, int flags, uint32_t mode, uint64_t resolve) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = (uint64_t)(uint32_t)(flags | O_CLOEXEC);
    how.mode = flags & O_CREAT ? mode : 0;
    how.resolve = resolve;
    int left = disturbances;
    for (;;) {
        long result = syscall(SYS_openat2, folder, path, &how, sizeof how);
        if (result >= 0) return (int)result;
        if (errno == EINTR) continue;
        if (errno == EAGAIN && !(flags & O_NONBLOCK) && left-- > 0) continue;
        return -errno;
    }
}
