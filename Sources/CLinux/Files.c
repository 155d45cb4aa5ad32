#define _GNU_SOURCE
#include "CLinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/// The call's result, or the negated errno; repeated while a signal interrupts it.
#define RETRYING(call)                                   \
    ({                                                   \
        int64_t result_;                                 \
        do {                                             \
            result_ = (int64_t)(call);                   \
        } while (result_ < 0 && errno == EINTR);         \
        result_ < 0 ? -(int64_t)errno : result_;         \
    })

/// statx(2) and not stat(2), which does not tell when a file was made.
static int look(int folder, const char *path, int flags, struct clinux_status *status) {
    struct statx found;
    if (statx(folder, path, flags, STATX_BASIC_STATS | STATX_BTIME, &found) != 0) return -errno;
    status->device = makedev(found.stx_dev_major, found.stx_dev_minor);
    status->inode = found.stx_ino;
    status->size = (int64_t)found.stx_size;
    status->modified_seconds = found.stx_mtime.tv_sec;
    status->modified_nanoseconds = found.stx_mtime.tv_nsec;
    status->changed_seconds = found.stx_ctime.tv_sec;
    status->changed_nanoseconds = found.stx_ctime.tv_nsec;
    status->has_birth = (found.stx_mask & STATX_BTIME) != 0;
    status->birth_seconds = status->has_birth ? found.stx_btime.tv_sec : 0;
    status->birth_nanoseconds = status->has_birth ? found.stx_btime.tv_nsec : 0;
    status->mode = found.stx_mode;
    status->owner = found.stx_uid;
    status->group = found.stx_gid;
    status->links = found.stx_nlink;
    status->allocated = (int64_t)found.stx_blocks * 512;
    return 0;
}

int clinux_stat(const char *path, struct clinux_status *status) {
    return look(AT_FDCWD, path, 0, status);
}

int clinux_stat_link(const char *path, struct clinux_status *status) {
    return look(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, status);
}

int clinux_stat_in(int folder, const char *name, struct clinux_status *status) {
    return look(folder, name, AT_SYMLINK_NOFOLLOW, status);
}

int clinux_stat_open(int descriptor, struct clinux_status *status) {
    return look(descriptor, "", AT_EMPTY_PATH, status);
}

int clinux_stat_file_system(const char *path, struct clinux_file_system *status) {
    struct statfs found;
    int64_t result = RETRYING(statfs(path, &found));
    if (result < 0) return (int)result;
    status->block_bytes = (uint64_t)(found.f_frsize ? found.f_frsize : found.f_bsize);
    status->blocks = found.f_blocks;
    status->available_blocks = found.f_bavail;
    status->inodes = found.f_files;
    status->free_inodes = found.f_ffree;
    status->type = (uint32_t)found.f_type;
    return 0;
}

int clinux_open(const char *path, int flags, uint32_t mode) {
    return (int)RETRYING(open(path, flags | O_CLOEXEC, (mode_t)mode));
}

int clinux_close(int descriptor) {
    return close(descriptor) == 0 || errno == EINTR ? 0 : -errno;
}

int64_t clinux_read_at(int descriptor, void *buffer, size_t count, int64_t offset) {
    return RETRYING(pread(descriptor, buffer, count, offset));
}

int64_t clinux_write(int descriptor, const void *buffer, size_t count) {
    return RETRYING(write(descriptor, buffer, count));
}

int64_t clinux_write_at(int descriptor, const void *buffer, size_t count, int64_t offset) {
    return RETRYING(pwrite(descriptor, buffer, count, offset));
}

int clinux_truncate(int descriptor, int64_t size) {
    return (int)RETRYING(ftruncate(descriptor, size));
}

int clinux_sync(int descriptor) { return (int)RETRYING(fsync(descriptor)); }

int clinux_sync_data(int descriptor) { return (int)RETRYING(fdatasync(descriptor)); }

int clinux_sync_file_system(int descriptor) { return (int)RETRYING(syncfs(descriptor)); }

int clinux_reflink(int destination, int source) {
    return (int)RETRYING(ioctl(destination, FICLONE, source));
}

int64_t clinux_copy_range(
    int source, int64_t source_offset, int destination, int64_t destination_offset, size_t count) {
    off_t from = source_offset, to = destination_offset;
    return RETRYING(copy_file_range(source, &from, destination, &to, count, 0));
}

int64_t clinux_seek_data(int descriptor, int64_t offset) {
    return RETRYING(lseek(descriptor, offset, SEEK_DATA));
}

int64_t clinux_seek_hole(int descriptor, int64_t offset) {
    return RETRYING(lseek(descriptor, offset, SEEK_HOLE));
}

int clinux_advise_sequential(int descriptor) {
    return -posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
}

int clinux_advise_unneeded(int descriptor, int64_t offset, int64_t count) {
    return -posix_fadvise(descriptor, offset, count, POSIX_FADV_DONTNEED);
}

int clinux_may_change_folder(const char *path) {
    return (int)RETRYING(faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS));
}

int64_t clinux_resolve(const char *path, char *buffer, size_t size) {
    char *resolved = realpath(path, NULL);
    if (resolved == NULL) return -errno;
    size_t length = strlen(resolved);
    int64_t result = -ENAMETOOLONG;
    if (length < size) {
        memcpy(buffer, resolved, length + 1);
        result = (int64_t)length;
    }
    free(resolved);
    return result;
}

int clinux_set_mode(int descriptor, uint32_t mode) {
    return (int)RETRYING(fchmod(descriptor, (mode_t)mode));
}

int clinux_set_owner(int descriptor, uint32_t owner, uint32_t group) {
    return (int)RETRYING(fchown(descriptor, owner, group));
}

int64_t clinux_list_attributes(int descriptor, char *buffer, size_t size) {
    return RETRYING(flistxattr(descriptor, buffer, size));
}

int64_t clinux_get_attribute(int descriptor, const char *name, void *buffer, size_t size) {
    return RETRYING(fgetxattr(descriptor, name, buffer, size));
}

int clinux_remove_attribute(int descriptor, const char *name) {
    return (int)RETRYING(fremovexattr(descriptor, name));
}

int clinux_set_attribute(int descriptor, const char *name, const void *value, size_t size) {
    return (int)RETRYING(fsetxattr(descriptor, name, value, size, 0));
}

static int range_operation(
    int descriptor, int command, short type, int64_t start, int64_t length, struct flock *lock) {
    memset(lock, 0, sizeof *lock);
    lock->l_type = type;
    lock->l_whence = SEEK_SET;
    lock->l_start = start;
    lock->l_len = length;
    int result = (int)RETRYING(fcntl(descriptor, command, lock));
    return result == -EACCES ? -EAGAIN : result;
}

/// On the whole file: a length of 0 reaches to its end, wherever that is.
static int lock_operation(int descriptor, int command, short type, struct flock *lock) {
    return range_operation(descriptor, command, type, 0, 0, lock);
}

int clinux_lock(int descriptor) {
    struct flock lock;
    return lock_operation(descriptor, F_OFD_SETLK, F_WRLCK, &lock);
}

int clinux_unlock(int descriptor) {
    struct flock lock;
    return lock_operation(descriptor, F_OFD_SETLK, F_UNLCK, &lock);
}

int clinux_lock_is_held(int descriptor) {
    struct flock lock;
    int result = lock_operation(descriptor, F_OFD_GETLK, F_WRLCK, &lock);
    return result < 0 ? result : lock.l_type != F_UNLCK;
}

int clinux_lock_file(int descriptor, int exclusive) {
    int kind = exclusive ? LOCK_EX : LOCK_SH;
    return (int)RETRYING(flock(descriptor, kind | LOCK_NB));
}

int clinux_lock_range(int descriptor, int64_t start, int64_t length, int exclusive) {
    struct flock lock;
    short type = exclusive ? F_WRLCK : F_RDLCK;
    return range_operation(descriptor, F_OFD_SETLK, type, start, length, &lock);
}

int clinux_unlock_file(int descriptor) { return (int)RETRYING(flock(descriptor, LOCK_UN)); }

int clinux_unlock_range(int descriptor, int64_t start, int64_t length) {
    struct flock lock;
    return range_operation(descriptor, F_OFD_SETLK, F_UNLCK, start, length, &lock);
}

int clinux_range_is_held(
    int descriptor, int64_t start, int64_t length, int exclusive, int64_t *holder) {
    struct flock lock;
    short type = exclusive ? F_WRLCK : F_RDLCK;
    int result = range_operation(descriptor, F_OFD_GETLK, type, start, length, &lock);
    if (result < 0) return result;
    *holder = lock.l_type == F_UNLCK || lock.l_pid <= 0 ? 0 : lock.l_pid;
    return lock.l_type != F_UNLCK;
}

void *clinux_folder_open(const char *path, int *failure) {
    DIR *folder = opendir(path);
    *failure = folder == NULL ? -errno : 0;
    return folder;
}

const char *clinux_folder_next(void *folder, int *failure) {
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir((DIR *)folder);
        *failure = entry == NULL ? -errno : 0;
        if (entry == NULL) return NULL;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            return entry->d_name;
        }
    }
}

void clinux_folder_close(void *folder) { closedir((DIR *)folder); }
