/// What Linux offers and Swift's Glibc module does not show, behind plain C functions.
///
/// Every function that can fail returns a value of zero or more, or the negated errno; none
/// leaves its result in errno, where a later call could overwrite it before Swift reads it.
/// Calls that a signal interrupts are repeated.
#ifndef CLINUX_H
#define CLINUX_H

#include "CLinuxFiles.h"
#include "CLinuxFolders.h"
#include "CLinuxGuardian.h"
#include "CLinuxLeases.h"
#include "CLinuxProcesses.h"
#include "CLinuxSignals.h"
#include "CLinuxThreads.h"

/// "ENOSPC" for 28 and so on; NULL for a number that has no name.
const char *clinux_error_name(int number);
/// "No space left on device" for 28 and so on; NULL for a number that has no text.
const char *clinux_error_text(int number);

/// This machine's name, cut to `size - 1` bytes and terminated.
int clinux_host_name(char *buffer, size_t size);
/// This process's id.
int64_t clinux_process_id(void);
/// 1 where this process is in the machine's first PID namespace (pid_namespaces(7)), 0 in another
/// one, all of whose processes the kernel kills when its first process ends.
int clinux_is_first_pid_namespace(void);

/// Raises the soft limit of open descriptors to `wanted`, or to the hard limit where that is
/// lower; returns the limit now in force.
int64_t clinux_raise_descriptor_limit(uint64_t wanted);
/// Limits this process's address space to `bytes`.
int clinux_limit_address_space(uint64_t bytes);
/// Lets malloc keep up to 64 MiB of what is freed, instead of giving it back to the system and
/// asking for it again with each store, and take memory in steps of 4 MiB.
void clinux_keep_freed_memory(void);

/// A descriptor that becomes readable once it is signalled: non-blocking, closed on exec.
int clinux_event_create(void);
/// Makes an event descriptor readable.
int clinux_event_signal(int descriptor);
/// Makes an event descriptor unreadable again; returns how often it had been signalled.
int64_t clinux_event_drain(int descriptor);

#endif
