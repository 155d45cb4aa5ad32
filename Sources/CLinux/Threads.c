#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct clinux_monitor {
    pthread_mutex_t mutex;
    pthread_cond_t conditions[2];
};

int clinux_thread_start(
    uint64_t *thread, size_t stack_bytes, void *(*body)(void *), void *argument) {
    pthread_attr_t attributes;
    int result = pthread_attr_init(&attributes);
    if (result != 0) return -result;
    if (stack_bytes > 0) result = pthread_attr_setstacksize(&attributes, stack_bytes);
    if (result == 0) {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        pthread_t started;
        result = pthread_create(&started, &attributes, body, argument);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (result == 0) *thread = (uint64_t)started;
    }
    pthread_attr_destroy(&attributes);
    return -result;
}

int clinux_thread_join(uint64_t thread) { return -pthread_join((pthread_t)thread, NULL); }

int clinux_thread_is_current(uint64_t thread) {
    return pthread_equal((pthread_t)thread, pthread_self()) != 0;
}

int clinux_thread_set_name(const char *name) {
    char cut[16];
    strncpy(cut, name, sizeof cut - 1);
    cut[sizeof cut - 1] = 0;
    return -pthread_setname_np(pthread_self(), cut);
}

int clinux_thread_name(char *buffer, size_t size) {
    return -pthread_getname_np(pthread_self(), buffer, size);
}

struct clinux_monitor *clinux_monitor_create(void) {
    struct clinux_monitor *monitor = malloc(sizeof *monitor);
    if (monitor == NULL) return NULL;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&monitor->mutex, NULL);
    pthread_cond_init(&monitor->conditions[0], &attributes);
    pthread_cond_init(&monitor->conditions[1], &attributes);
    pthread_condattr_destroy(&attributes);
    return monitor;
}

void clinux_monitor_destroy(struct clinux_monitor *monitor) {
    pthread_cond_destroy(&monitor->conditions[0]);
    pthread_cond_destroy(&monitor->conditions[1]);
    pthread_mutex_destroy(&monitor->mutex);
    free(monitor);
}

void clinux_monitor_lock(struct clinux_monitor *monitor) { pthread_mutex_lock(&monitor->mutex); }

void clinux_monitor_unlock(struct clinux_monitor *monitor) {
    pthread_mutex_unlock(&monitor->mutex);
}

void clinux_monitor_wait(struct clinux_monitor *monitor, int condition) {
    pthread_cond_wait(&monitor->conditions[condition & 1], &monitor->mutex);
}

int clinux_monitor_wait_until(struct clinux_monitor *monitor, int condition, int64_t deadline) {
    struct timespec until = {deadline / 1000000000, deadline % 1000000000};
    return -pthread_cond_timedwait(
        &monitor->conditions[condition & 1], &monitor->mutex, &until);
}

void clinux_monitor_signal(struct clinux_monitor *monitor, int condition) {
    pthread_cond_signal(&monitor->conditions[condition & 1]);
}

void clinux_monitor_broadcast(struct clinux_monitor *monitor, int condition) {
    pthread_cond_broadcast(&monitor->conditions[condition & 1]);
}

int64_t clinux_monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
