#define _GNU_SOURCE
#include "CLinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/// The call's result, or the negated errno; repeated while a signal interrupts it.
#define RETRYING(call)                                   \
    ({                                                   \
        int result_;                                     \
        do {                                             \
            result_ = (call);                            \
        } while (result_ < 0 && errno == EINTR);         \
        result_ < 0 ? -errno : result_;                  \
    })

int clinux_link_in(int from_folder, const char *from, int to_folder, const char *to) {
    return RETRYING(linkat(from_folder, from, to_folder, to, 0));
}

int clinux_rename_in(int from_folder, const char *from, int to_folder, const char *to) {
    return RETRYING(renameat(from_folder, from, to_folder, to));
}

int clinux_exchange_in(int from_folder, const char *from, int to_folder, const char *to) {
    return RETRYING(renameat2(from_folder, from, to_folder, to, RENAME_EXCHANGE));
}

int clinux_rename_in_no_replace(int from_folder, const char *from, int to_folder, const char *to) {
    return RETRYING(renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE));
}

int clinux_unlink_in(int folder, const char *name) { return RETRYING(unlinkat(folder, name, 0)); }

int clinux_make_folder_in(int folder, const char *name, uint32_t mode) {
    return RETRYING(mkdirat(folder, name, (mode_t)mode));
}

int clinux_remove_folder_in(int folder, const char *name) {
    return RETRYING(unlinkat(folder, name, AT_REMOVEDIR));
}

void *clinux_folder_open_again(int folder, int *failure) {
    // Not a duplicate, which would share its position with others who list.
    int descriptor = RETRYING(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    *failure = descriptor < 0 ? descriptor : 0;
    if (descriptor < 0) return NULL;
    DIR *opened = fdopendir(descriptor);
    if (opened == NULL) {
        *failure = -errno;
        close(descriptor);
    }
    return opened;
}

uint32_t clinux_effective_user(void) { return geteuid(); }
