#define _GNU_SOURCE
#include "CLinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/// Reads the start of a small file; system calls alone, for a signal handler uses it.
static ssize_t read_start(const char *path, char *buffer, size_t size) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    ssize_t count = read(descriptor, buffer, size - 1);
    int failure = errno;
    close(descriptor);
    if (count < 0) return -failure;
    buffer[count] = 0;
    return count;
}

/// The number that the text begins with.
static uint64_t leading_number(const char *text) {
    uint64_t number = 0;
    while (*text >= '0' && *text <= '9') number = number * 10 + (uint64_t)(*text++ - '0');
    return number;
}

int64_t clinux_address_space_size(void) {
    char text[128];
    ssize_t count = read_start("/proc/self/statm", text, sizeof text);
    if (count <= 0) return count == 0 ? -EIO : count;
    return (int64_t)(leading_number(text) * (uint64_t)sysconf(_SC_PAGESIZE));
}

/// The limit that a control group has, 0 for none.
static uint64_t group_limit(const char *group) {
    static const char root[] = "/sys/fs/cgroup";
    static const char file[] = "/memory.max";
    char path[4096], text[64];
    if (sizeof root + strlen(group) + sizeof file > sizeof path) return 0;
    strcpy(path, root);
    strcat(path, group);
    strcat(path, file);
    return read_start(path, text, sizeof text) > 0 ? leading_number(text) : 0;
}

uint64_t clinux_memory_limit(void) {
    uint64_t limit = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    char text[4096];
    // Version 2 has one line, "0::/path" (cgroups(7)).
    ssize_t count = read_start("/proc/self/cgroup", text, sizeof text);
    char *group = count > 0 ? strstr(text, "0::/") : NULL;
    if (group == NULL) return limit;
    group += 3;
    group[strcspn(group, "\n")] = 0;
    for (;;) {
        uint64_t own = group_limit(strcmp(group, "/") == 0 ? "" : group);
        if (own > 0 && own < limit) limit = own;
        char *last = strrchr(group, '/');
        if (last == NULL || group[1] == 0) return limit;
        last[last == group ? 1 : 0] = 0;
    }
}

/// Adds what a process has read and written; `name` is that of its folder in /proc.
static int add_traffic(const char *name, uint64_t *read, uint64_t *written) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%s/io", name);
    ssize_t count = read_start(path, text, sizeof text);
    if (count < 0) return (int)count;
    const char *first = strstr(text, "rchar: "), *second = strstr(text, "wchar: ");
    if (first == NULL || second == NULL) return -ENODATA;
    *read += leading_number(first + 7);
    *written += leading_number(second + 7);
    return 0;
}

/// Appends the children of a process to a list of at most `limit`; returns its new length.
static int add_children(const char *name, int64_t *list, int count, int limit) {
    char path[128], text[512];
    snprintf(path, sizeof path, "/proc/%s/task", name);
    DIR *threads = opendir(path);
    if (threads == NULL) return count;
    const struct dirent *thread;
    while (count < limit && (thread = readdir(threads)) != NULL) {
        if (thread->d_name[0] < '0' || thread->d_name[0] > '9') continue;
        snprintf(path, sizeof path, "/proc/%s/task/%.20s/children", name, thread->d_name);
        if (read_start(path, text, sizeof text) <= 0) continue;
        for (char *next = text; *next >= '0' && *next <= '9' && count < limit;) {
            list[count++] = (int64_t)leading_number(next);
            next += strspn(next, "0123456789");
            next += strspn(next, " ");
        }
    }
    closedir(threads);
    return count;
}

int clinux_process_traffic(uint64_t *read, uint64_t *written) {
    *read = *written = 0;
    int result = add_traffic("self", read, written);
    if (result != 0) return result;
    // What is beyond the limit shows when it has ended.
    int64_t list[CLINUX_DESCENDANTS];
    int count = add_children("self", list, 0, CLINUX_DESCENDANTS);
    for (int place = 0; place < count; place++) {
        char name[24];
        snprintf(name, sizeof name, "%lld", (long long)list[place]);
        // One that has ended meanwhile counts as part of its parent.
        (void)add_traffic(name, read, written);
        count = add_children(name, list, count, CLINUX_DESCENDANTS);
    }
    return 0;
}

static int exhausted_exit_code;
static uint64_t exhausted_margin;

static void crashed(int number) {
    int last = errno;
    int is_exhausted = last == ENOMEM;
    struct rlimit limit;
    if (!is_exhausted && getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        int64_t size = clinux_address_space_size();
        is_exhausted = size > 0 && (uint64_t)size + exhausted_margin > limit.rlim_cur;
    }
    if (is_exhausted) _exit(exhausted_exit_code);
    // The disposition is the default again: the signal ends the process.
    raise(number);
}

void clinux_tell_exhausted_memory(int exit_code, uint64_t margin) {
    exhausted_exit_code = exit_code;
    exhausted_margin = margin;
    static const int numbers[] = {SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS};
    for (size_t place = 0; place < sizeof numbers / sizeof numbers[0]; place++) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = crashed;
        action.sa_flags = SA_RESETHAND | SA_NODEFER;
        sigaction(numbers[place], &action, NULL);
    }
}
