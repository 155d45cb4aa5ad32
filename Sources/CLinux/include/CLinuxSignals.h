/// The signals that ask a process to end: SIGHUP, SIGINT, SIGTERM.
#ifndef CLINUX_SIGNALS_H
#define CLINUX_SIGNALS_H

/// Blocks them in the calling thread and in the threads that it starts from now on.
///
/// Those that the process was started to ignore, as nohup does, are left alone. Returns how many
/// were blocked.
int clinux_end_signals_block(void);
/// Waits for one that is blocked in all threads; returns its number.
int clinux_end_signals_wait(void);
/// Ends the process by a signal's default action, or with 128 and its number where that does
/// not end it, as for the first process of a container.
_Noreturn void clinux_end_by_signal(int number);

#endif
