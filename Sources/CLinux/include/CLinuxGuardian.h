/// A process that shares open files of this one, so that what they hold outlives this process.
#ifndef CLINUX_GUARDIAN_H
#define CLINUX_GUARDIAN_H

#include <stdint.h>

/// What a guardian is called (comm in proc(5), at most 15 bytes).
#define CLINUX_GUARDIAN_NAME "godwit-guardian"

/// Starts the guardian: a child in a session of its own, which ignores the signals that end
/// commands. Returns the socket by which it is told, or the negated errno.
///
/// The guardian ends once the socket is closed and it holds nothing any more. It only makes system
/// calls: other threads may have held any lock when it was forked.
int clinux_guardian_start(void);
/// Hands over an open file with its leases and locks, before the name `path` changes hands.
int clinux_guardian_hold(int socket, uint64_t number, int descriptor, const char *path);
/// Lets a file go: everything was given back on it.
int clinux_guardian_admit(int socket, uint64_t number);
/// Leaves a file to the guardian, as the end of this process does with all of them.
///
/// A file that has its name then is let go. Any other one was replaced: a program that waits in
/// open(2) for it is let in, but the locks stay until no other process has it open.
int clinux_guardian_abandon(int socket, uint64_t number);

/// Leaves a file to the guardian until no program has another file open for writing, of which this
/// passes a descriptor for reading; negative error number.
int clinux_guardian_keep(int socket, uint64_t number, int other);

#endif
