// fail.so: makes chosen calls of a running program fail, and moves the time of day it sees.
//
//   WHEREABOUTS_FAIL_CONTROL=control LD_PRELOAD=…/fail.so PROGRAM …
//
// The control file is read before each call concerned, so that what fails changes while the program runs. A line each:
//
//   write PART ERRNO     pwrite and write to a file whose path contains PART fail with ERRNO, a number
//   sync PART ERRNO      fsync and fdatasync fail
//   delay PART MS        fsync and fdatasync take so many milliseconds more
//   clock SECONDS        CLOCK_REALTIME is so much later (earlier if negative)
//
// Replace the file by rename. Needs a dynamically linked program: the calls are caught by name.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define REAL(name)                                                                                                     \
    ({                                                                                                                 \
        static __typeof__(&name) real;                                                                                 \
        if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                                  \
        real;                                                                                                          \
    })

static char *control(char *buffer, size_t size) {
    const char *path = getenv("WHEREABOUTS_FAIL_CONTROL");
    if (!path) return NULL;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return NULL;
    ssize_t count = read(descriptor, buffer, size - 1);
    close(descriptor);
    if (count <= 0) return NULL;
    buffer[count] = 0;
    return buffer;
}

// The errno that a call of this kind on this descriptor fails with, or the milliseconds of its delay; 0 when the file has no such
// line.
static int found_for(const char *kind, int descriptor) {
    char buffer[4096], name[64], path[PATH_MAX];
    int before = errno, found = 0;
    if (control(buffer, sizeof buffer)) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
        ssize_t length = readlink(name, path, sizeof path - 1);
        if (length > 0) {
            path[length] = 0;
            char *rest = NULL;
            for (char *line = strtok_r(buffer, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                char what[16], part[256];
                int code;
                if (sscanf(line, "%15s %255s %d", what, part, &code) == 3 && !strcmp(what, kind) && strstr(path, part))
                    found = code;
            }
        }
    }
    errno = before;
    return found;
}

#define FAIL(kind, descriptor)                                                                                         \
    do {                                                                                                               \
        int code = found_for(kind, descriptor);                                                                          \
        if (code) {                                                                                                    \
            errno = code;                                                                                              \
            return -1;                                                                                                 \
        }                                                                                                              \
    } while (0)

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    FAIL("write", descriptor);
    return REAL(pwrite64)(descriptor, bytes, count, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    FAIL("write", descriptor);
    return REAL(pwrite)(descriptor, bytes, count, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    FAIL("write", descriptor);
    return REAL(write)(descriptor, bytes, count);
}

static void delay(int descriptor) { usleep(found_for("delay", descriptor) * 1000); }

int fsync(int descriptor) {
    FAIL("sync", descriptor);
    delay(descriptor);
    return REAL(fsync)(descriptor);
}

int fdatasync(int descriptor) {
    FAIL("sync", descriptor);
    delay(descriptor);
    return REAL(fdatasync)(descriptor);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = REAL(clock_gettime)(clock, time);
    char buffer[4096];
    if (result == 0 && clock == CLOCK_REALTIME && control(buffer, sizeof buffer)) {
        char *rest = NULL;
        for (char *line = strtok_r(buffer, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            long seconds;
            if (sscanf(line, "clock %ld", &seconds) == 1) time->tv_sec += seconds;
        }
    }
    return result;
}
