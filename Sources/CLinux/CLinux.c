#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

const char *clinux_error_name(int number) { return strerrorname_np(number); }

const char *clinux_error_text(int number) { return strerrordesc_np(number); }

int clinux_host_name(char *buffer, size_t size) {
    if (size == 0) return -EINVAL;
    // A name that is cut may be left without its terminator.
    int result = gethostname(buffer, size);
    buffer[size - 1] = 0;
    return result == 0 || errno == ENAMETOOLONG ? 0 : -errno;
}

int64_t clinux_process_id(void) { return getpid(); }

int clinux_is_first_pid_namespace(void) {
    // PROC_PID_INIT_INO (linux/proc_ns.h): the kernel gives the first namespace a fixed number.
    struct stat status;
    if (stat("/proc/self/ns/pid", &status) != 0) return -errno;
    return status.st_ino == 0xEFFFFFFCU;
}

int64_t clinux_raise_descriptor_limit(uint64_t wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -errno;
    if (limit.rlim_cur >= wanted) return (int64_t)limit.rlim_cur;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? (int64_t)limit.rlim_cur : -errno;
}

int clinux_limit_address_space(uint64_t bytes) {
    struct rlimit limit = {bytes, bytes};
    return setrlimit(RLIMIT_AS, &limit) == 0 ? 0 : -errno;
}

void clinux_keep_freed_memory(void) {
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_TOP_PAD, 4 << 20);
}

int clinux_event_create(void) {
    int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return descriptor >= 0 ? descriptor : -errno;
}

int clinux_event_signal(int descriptor) {
    // EAGAIN means that the counter is full: the descriptor is readable already.
    for (;;) {
        if (eventfd_write(descriptor, 1) == 0 || errno == EAGAIN) return 0;
        if (errno != EINTR) return -errno;
    }
}

int64_t clinux_event_drain(int descriptor) {
    eventfd_t count = 0;
    for (;;) {
        if (eventfd_read(descriptor, &count) == 0) return (int64_t)count;
        if (errno == EAGAIN) return 0;
        if (errno != EINTR) return -errno;
    }
}
