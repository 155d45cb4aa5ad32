#include "CFaultVFS.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/statvfs.h>

// A file of the shim; the real one lies right behind it.
struct shim_file {
    sqlite3_file base;
    int is_watched;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char watched[4096];
static struct cfault_fault planned;
static long counted;
static long long peak;

static sqlite3_vfs *real_vfs;
static sqlite3_vfs shim;

static sqlite3_file *real(sqlite3_file *file) {
    return (sqlite3_file *)((struct shim_file *)file + 1);
}

static int is_inside(const char *path) {
    size_t length = strlen(watched);
    return path != NULL && length > 0 && strncmp(path, watched, length) == 0;
}

static void look(void) {
    struct statvfs status;
    if (watched[0] == 0 || statvfs(watched, &status) != 0) return;
    long long used = (long long)(status.f_blocks - status.f_bfree) * (long long)status.f_frsize;
    if (used > peak) peak = used;
}

// Counts an action; the result code with which it fails, or SQLITE_OK. Only the first `half`
// bytes of a write are to be written where that is asked for.
static int announce(int operation, int is_watched, int *writes_half) {
    if (!is_watched) return SQLITE_OK;
    int code = SQLITE_OK;
    pthread_mutex_lock(&lock);
    if (watched[0] != 0 && (planned.operations & operation) != 0) {
        if (operation == CFAULT_WRITE) look();
        if (counted == planned.place) {
            code = planned.code;
            if (writes_half != NULL) *writes_half = planned.writes_half;
            // SQLite's own layer tells the number of its last call from here.
            errno = planned.number;
        }
        counted += 1;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

static int shim_close(sqlite3_file *file) {
    sqlite3_file *under = real(file);
    return under->pMethods == NULL ? SQLITE_OK : under->pMethods->xClose(under);
}

static int shim_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int shim_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    int writes_half = 0;
    int code = announce(CFAULT_WRITE, ((struct shim_file *)file)->is_watched, &writes_half);
    if (code == SQLITE_OK) return real(file)->pMethods->xWrite(real(file), bytes, count, offset);
    if (writes_half) {
        int number = errno;
        (void)real(file)->pMethods->xWrite(real(file), bytes, count / 2, offset);
        errno = number;
    }
    return code;
}

static int shim_truncate(sqlite3_file *file, sqlite3_int64 size) {
    int code = announce(CFAULT_TRUNCATE, ((struct shim_file *)file)->is_watched, NULL);
    return code != SQLITE_OK ? code : real(file)->pMethods->xTruncate(real(file), size);
}

static int shim_sync(sqlite3_file *file, int flags) {
    int code = announce(CFAULT_SYNC, ((struct shim_file *)file)->is_watched, NULL);
    return code != SQLITE_OK ? code : real(file)->pMethods->xSync(real(file), flags);
}

static int shim_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}

static int shim_lock(sqlite3_file *file, int level) {
    return real(file)->pMethods->xLock(real(file), level);
}

static int shim_unlock(sqlite3_file *file, int level) {
    return real(file)->pMethods->xUnlock(real(file), level);
}

static int shim_check_lock(sqlite3_file *file, int *result) {
    return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

static int shim_control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int shim_sector_size(sqlite3_file *file) {
    return real(file)->pMethods->xSectorSize(real(file));
}

static int shim_characteristics(sqlite3_file *file) {
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int shim_map(
    sqlite3_file *file, int region, int size, int extends, void volatile **memory) {
    int is_watched = ((struct shim_file *)file)->is_watched && extends;
    int code = announce(CFAULT_MAP, is_watched, NULL);
    if (code != SQLITE_OK) return code;
    return real(file)->pMethods->xShmMap(real(file), region, size, extends, memory);
}

static int shim_shared_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void shim_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }

static int shim_unmap(sqlite3_file *file, int deletes) {
    return real(file)->pMethods->xShmUnmap(real(file), deletes);
}

static int shim_fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **bytes) {
    return real(file)->pMethods->xFetch(real(file), offset, count, bytes);
}

static int shim_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *bytes) {
    return real(file)->pMethods->xUnfetch(real(file), offset, bytes);
}

static const sqlite3_io_methods methods = {
    .iVersion = 3,
    .xClose = shim_close,
    .xRead = shim_read,
    .xWrite = shim_write,
    .xTruncate = shim_truncate,
    .xSync = shim_sync,
    .xFileSize = shim_size,
    .xLock = shim_lock,
    .xUnlock = shim_unlock,
    .xCheckReservedLock = shim_check_lock,
    .xFileControl = shim_control,
    .xSectorSize = shim_sector_size,
    .xDeviceCharacteristics = shim_characteristics,
    .xShmMap = shim_map,
    .xShmLock = shim_shared_lock,
    .xShmBarrier = shim_barrier,
    .xShmUnmap = shim_unmap,
    .xFetch = shim_fetch,
    .xUnfetch = shim_unfetch,
};

static int shim_open(
    sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *given) {
    (void)vfs;
    struct shim_file *opened = (struct shim_file *)file;
    opened->base.pMethods = NULL;
    real(file)->pMethods = NULL;
    pthread_mutex_lock(&lock);
    opened->is_watched = is_inside(name);
    pthread_mutex_unlock(&lock);
    int makes = (flags & SQLITE_OPEN_CREATE) != 0;
    int code = announce(CFAULT_OPEN, opened->is_watched && makes, NULL);
    if (code != SQLITE_OK) return code;
    code = real_vfs->xOpen(real_vfs, name, real(file), flags, given);
    // SQLite closes what has methods, even where opening it failed.
    if (real(file)->pMethods != NULL) opened->base.pMethods = &methods;
    return code;
}

static int shim_delete(sqlite3_vfs *vfs, const char *name, int syncs_folder) {
    (void)vfs;
    pthread_mutex_lock(&lock);
    int is_watched = is_inside(name);
    pthread_mutex_unlock(&lock);
    int code = announce(CFAULT_DELETE, is_watched, NULL);
    return code != SQLITE_OK ? code : real_vfs->xDelete(real_vfs, name, syncs_folder);
}

int cfault_install(void) {
    if (real_vfs != NULL) return SQLITE_OK;
    int code = sqlite3_initialize();
    if (code != SQLITE_OK) return code;
    sqlite3_vfs *found = sqlite3_vfs_find(NULL);
    if (found == NULL || found->iVersion < 3) return SQLITE_ERROR;
    // Everything that is not about files of its own goes straight to the real one, which looks
    // at nothing of the table that it is called through but what was copied from its own.
    shim = *found;
    shim.zName = "godwit-faults";
    shim.pNext = NULL;
    shim.szOsFile = (int)sizeof(struct shim_file) + found->szOsFile;
    shim.xOpen = shim_open;
    shim.xDelete = shim_delete;
    real_vfs = found;
    return sqlite3_vfs_register(&shim, 1);
}

void cfault_begin(const char *folder, struct cfault_fault fault) {
    pthread_mutex_lock(&lock);
    strncpy(watched, folder, sizeof watched - 1);
    planned = fault;
    counted = 0;
    peak = 0;
    look();
    pthread_mutex_unlock(&lock);
}

long cfault_end(void) {
    pthread_mutex_lock(&lock);
    watched[0] = 0;
    long count = counted;
    pthread_mutex_unlock(&lock);
    return count;
}

void cfault_look(void) {
    pthread_mutex_lock(&lock);
    look();
    pthread_mutex_unlock(&lock);
}

long long cfault_peak(void) {
    pthread_mutex_lock(&lock);
    long long found = peak;
    pthread_mutex_unlock(&lock);
    return found;
}
