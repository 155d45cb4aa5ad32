/// Files: status, copying, syncing, renaming, locks, attributes, folders.
#ifndef CLINUX_FILES_H
#define CLINUX_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What statx(2) says of a file, in fixed widths.
struct clinux_status {
    uint64_t device;
    uint64_t inode;
    int64_t size;
    int64_t modified_seconds;
    int64_t changed_seconds;
    uint32_t modified_nanoseconds;
    uint32_t changed_nanoseconds;
    /// When the file was made; nothing where the file system does not tell.
    int64_t birth_seconds;
    uint32_t birth_nanoseconds;
    bool has_birth;
    uint32_t mode;
    uint32_t owner;
    uint32_t group;
    uint64_t links;
    /// Bytes that the file takes on its file system: less than its size where it has holes.
    int64_t allocated;
};

/// What statfs(2) says of a file system.
struct clinux_file_system {
    uint64_t block_bytes;
    uint64_t blocks;
    uint64_t available_blocks;
    uint64_t inodes;
    uint64_t free_inodes;
    uint32_t type;
};

int clinux_stat(const char *path, struct clinux_status *status);
/// Like clinux_stat, but a symbolic link is not followed.
int clinux_stat_link(const char *path, struct clinux_status *status);
/// Like clinux_stat_link, of a name in a folder.
int clinux_stat_in(int folder, const char *name, struct clinux_status *status);
int clinux_stat_open(int descriptor, struct clinux_status *status);
int clinux_stat_file_system(const char *path, struct clinux_file_system *status);

/// open(2) with O_CLOEXEC added.
int clinux_open(const char *path, int flags, uint32_t mode);
/// close(2); an interrupted close counts as done, for Linux has released the descriptor.
int clinux_close(int descriptor);
int64_t clinux_read_at(int descriptor, void *buffer, size_t count, int64_t offset);
int64_t clinux_write(int descriptor, const void *buffer, size_t count);
int64_t clinux_write_at(int descriptor, const void *buffer, size_t count, int64_t offset);
int clinux_truncate(int descriptor, int64_t size);

int clinux_sync(int descriptor);
/// fdatasync(2): contents and size, not the times.
int clinux_sync_data(int descriptor);
/// syncfs(2): everything of the file system that the descriptor lies on.
int clinux_sync_file_system(int descriptor);

/// Lets two files share their blocks (FICLONE).
int clinux_reflink(int destination, int source);
/// copy_file_range(2) from and to explicit offsets; returns the bytes copied.
int64_t clinux_copy_range(
    int source, int64_t source_offset, int destination, int64_t destination_offset, size_t count);
/// The next offset at or after `offset` that holds data (SEEK_DATA).
int64_t clinux_seek_data(int descriptor, int64_t offset);
/// The next offset at or after `offset` that is a hole or the end (SEEK_HOLE).
int64_t clinux_seek_hole(int descriptor, int64_t offset);
/// posix_fadvise(2): the file is read from front to back.
int clinux_advise_sequential(int descriptor);
/// posix_fadvise(2): the cached pages of the range are not needed any more.
int clinux_advise_unneeded(int descriptor, int64_t offset, int64_t count);

/// 0 where this process may make and remove names in the folder, else the negated errno.
int clinux_may_change_folder(const char *path);
/// The path without symbolic links; returns its length, -ENAMETOOLONG where it does not fit.
int64_t clinux_resolve(const char *path, char *buffer, size_t size);

int clinux_set_mode(int descriptor, uint32_t mode);
int clinux_set_owner(int descriptor, uint32_t owner, uint32_t group);
/// Names of extended attributes, each terminated; with size 0 the bytes needed.
int64_t clinux_list_attributes(int descriptor, char *buffer, size_t size);
/// The value of an extended attribute; with size 0 the bytes needed.
int64_t clinux_get_attribute(int descriptor, const char *name, void *buffer, size_t size);
int clinux_set_attribute(int descriptor, const char *name, const void *value, size_t size);
int clinux_remove_attribute(int descriptor, const char *name);

/// Takes an open file description lock on the whole file, exclusively and without waiting;
/// -EAGAIN where another description holds one.
int clinux_lock(int descriptor);
int clinux_unlock(int descriptor);
/// 1 where another description holds a lock that an exclusive one would meet, else 0.
int clinux_lock_is_held(int descriptor);

/// Takes the flock(2) lock of the file without waiting, shared where `exclusive` is 0, on a
/// descriptor of any kind; -EAGAIN where another description holds one that conflicts. No
/// fcntl(2) lock conflicts with it.
int clinux_lock_file(int descriptor, int exclusive);
/// Takes an open file description lock on bytes of the file, without waiting; -EAGAIN where
/// another description, or a process by fcntl(2), holds a lock that conflicts.
int clinux_lock_range(int descriptor, int64_t start, int64_t length, int exclusive);
/// Gives the flock(2) lock back. Closing is not enough while a child that has been forked and
/// not yet become another program shares the description.
int clinux_unlock_file(int descriptor);
/// Gives the locks on a range back.
int clinux_unlock_range(int descriptor, int64_t start, int64_t length);
/// 1 where another description or process holds a lock on the bytes that one of this kind would
/// meet, else 0. `holder` becomes the process id, 0 where the lock belongs to a description.
int clinux_range_is_held(
    int descriptor, int64_t start, int64_t length, int exclusive, int64_t *holder);

/// Opens a folder for clinux_folder_next; NULL with the negated errno in `failure`.
void *clinux_folder_open(const char *path, int *failure);
/// The next entry's name, "." and ".." left out, valid until the next call; NULL at the end or,
/// with the negated errno in `failure`, on failure.
const char *clinux_folder_next(void *folder, int *failure);
void clinux_folder_close(void *folder);

/// For clinux_open_beneath: the path must stay below the folder, by names and by links.
extern const uint64_t clinux_resolve_beneath;
/// For clinux_open_beneath: no symbolic link is followed, in the middle or at the end.
extern const uint64_t clinux_resolve_no_symlinks;
/// For clinux_open_beneath: no link of /proc/PID/fd and its like is followed.
extern const uint64_t clinux_resolve_no_magiclinks;
/// For clinux_open_beneath: no mount point is crossed.
extern const uint64_t clinux_resolve_no_mounts;

/// The flag of open(2) for a descriptor that names a file and neither reads nor writes it.
extern const int clinux_path_only;

/// openat2(2) with O_CLOEXEC added: opens a path relative to a folder's descriptor under rules
/// for its resolution. `mode` counts with O_CREAT alone. -EXDEV where the path leaves the folder,
/// -ELOOP for a link that is not allowed; a resolution that renames elsewhere disturb is repeated,
/// -EAGAIN if that does not end.
int clinux_open_beneath(int folder, const char *path, int flags, uint32_t mode, uint64_t resolve);

#endif
