#ifndef GODWIT_CSQLITE_LINKS_H
#define GODWIT_CSQLITE_LINKS_H

#include <sys/stat.h>

/// open(2) for SQLite; where links are refused, a path that holds one fails with ELOOP.
int godwit_linkless_open(const char *path, int flags, int mode);

/// lstat(2) for SQLite, by which it looks for links in a path; where they are refused, it fails
/// with ELOOP instead of finding one.
int godwit_linkless_lstat(const char *path, struct stat *status);

#endif
