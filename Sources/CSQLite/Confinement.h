#ifndef GODWIT_CSQLITE_CONFINEMENT_H
#define GODWIT_CSQLITE_CONFINEMENT_H

#include <sys/stat.h>

/// open(2) for SQLite. In a confined process it opens regular files that were announced, their
/// companions, SQLite's own temporary files and folders, and follows no link: ELOOP for a link,
/// EACCES for any other file.
int godwit_confined_open(const char *path, int flags, int mode);

/// unlink(2) for SQLite, for the same files.
int godwit_confined_unlink(const char *path);

/// lstat(2) for SQLite, by which it looks for links in a path; in a confined process it fails with
/// ELOOP instead of finding one.
int godwit_confined_lstat(const char *path, struct stat *status);

#endif
