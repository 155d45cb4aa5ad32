#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

int clinux_lease(int descriptor) {
    // SIGIO, the default, would end the process.
    if (fcntl(descriptor, F_SETSIG, SIGURG) != 0) return -errno;
    return fcntl(descriptor, F_SETLEASE, F_WRLCK) == 0 ? 0 : -errno;
}

int clinux_lease_probe(int descriptor) {
    if (fcntl(descriptor, F_SETSIG, SIGURG) != 0) return -errno;
    if (fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) return -errno;
    return clinux_lease_release(descriptor);
}

int clinux_lease_is_whole(int descriptor) {
    return fcntl(descriptor, F_GETLEASE) == F_WRLCK;
}

int clinux_lease_release(int descriptor) {
    return fcntl(descriptor, F_SETLEASE, F_UNLCK) == 0 ? 0 : -errno;
}

int64_t clinux_read_link(const char *path, char *buffer, size_t size) {
    ssize_t length = readlink(path, buffer, size);
    return length < 0 ? -(int64_t)errno : (int64_t)length;
}

int clinux_duplicate(int descriptor) {
    int result = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    return result < 0 ? -errno : result;
}

void clinux_sleep(int64_t milliseconds) {
    struct timespec left = {milliseconds / 1000, (milliseconds % 1000) * 1000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {}
}

int64_t clinux_monotonic(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
