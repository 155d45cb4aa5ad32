#ifndef GODWIT_CFAULTVFS_H
#define GODWIT_CFAULTVFS_H

/// What SQLite does to a file and may fail to do; values are bits of a set.
enum cfault_operation {
    /// Opening a file that may be made by it.
    CFAULT_OPEN = 1,
    CFAULT_WRITE = 2,
    CFAULT_SYNC = 4,
    CFAULT_TRUNCATE = 8,
    CFAULT_DELETE = 16,
    /// Making room in the memory that connections share.
    CFAULT_MAP = 32,
};

/// How one action fails.
struct cfault_fault {
    /// The set of operations that are counted.
    int operations;
    /// Which of them fails, from 0; below 0 none does.
    long place;
    /// The result code that SQLite is told.
    int code;
    /// The system's error number behind it.
    int number;
    /// Whether a write puts half of its bytes into the file before it fails.
    int writes_half;
};

/// Puts the shim before SQLite's own way to the system, for all connections that are opened from
/// now on; to be called after SQLite was configured. Returns an SQLite result code.
int cfault_install(void);

/// Begins to count actions on files whose paths begin with the folder's, and lets one of them
/// fail. All other files, those without a name among them, are left alone. The greatest number of
/// bytes in use on the folder's file system is noted from here on.
void cfault_begin(const char *folder, struct cfault_fault fault);

/// Ends what `cfault_begin` began; returns how many actions were counted.
long cfault_end(void);

/// Looks at the bytes in use on the folder's file system, as every counted write does.
void cfault_look(void);

/// The greatest number of bytes that were in use since `cfault_begin`.
long long cfault_peak(void);

#endif
