#define _GNU_SOURCE
#include "CLinux.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

/// The signals that ask for an end and are not ignored; returns how many there are.
static int end_signals(sigset_t *set) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    int count = 0;
    sigemptyset(set);
    for (size_t place = 0; place < sizeof numbers / sizeof numbers[0]; place++) {
        struct sigaction action;
        if (sigaction(numbers[place], NULL, &action) != 0) continue;
        if (action.sa_handler == SIG_IGN) continue;
        sigaddset(set, numbers[place]);
        count++;
    }
    return count;
}

int clinux_end_signals_block(void) {
    sigset_t set;
    int count = end_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return count;
}

int clinux_end_signals_wait(void) {
    sigset_t set;
    end_signals(&set);
    int number = 0;
    while (sigwait(&set, &number) != 0) {
    }
    return number;
}

void clinux_end_by_signal(int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
    _exit(128 + number);
}
