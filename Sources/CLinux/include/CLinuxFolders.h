/// Names in a folder that is held by a descriptor: no path is resolved and no link is followed.
#ifndef CLINUX_FOLDERS_H
#define CLINUX_FOLDERS_H

#include "CLinuxFiles.h"

/// linkat(2); a symbolic link is linked itself.
int clinux_link_in(int from_folder, const char *from, int to_folder, const char *to);
/// renameat(2): what has the new name is replaced.
int clinux_rename_in(int from_folder, const char *from, int to_folder, const char *to);
/// renameat2(2) with RENAME_EXCHANGE: each gets the other's name; -EINVAL where the file system
/// cannot.
int clinux_exchange_in(int from_folder, const char *from, int to_folder, const char *to);
/// renameat2(2) with RENAME_NOREPLACE; -EINVAL where the file system cannot.
int clinux_rename_in_no_replace(int from_folder, const char *from, int to_folder, const char *to);
int clinux_unlink_in(int folder, const char *name);
int clinux_make_folder_in(int folder, const char *name, uint32_t mode);
int clinux_remove_folder_in(int folder, const char *name);
/// Opens the folder once more for clinux_folder_next; NULL with the negated errno in `failure`.
void *clinux_folder_open_again(int folder, int *failure);
/// The user whose rights this process has.
uint32_t clinux_effective_user(void);

#endif
