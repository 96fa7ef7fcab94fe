// record.so: records what a program does to the files below one directory, so that replay can rebuild what a power
// cut at any moment could have left of them.
//
//   WHEREABOUTS_RECORD_DIR=data WHEREABOUTS_RECORD_FILE=/dev/shm/run.recording LD_PRELOAD=…/record.so PROGRAM …
//
// - The directory must exist. The recording is appended to: a program that was killed and started again, or several
//   programs, share one. Each record is one O_APPEND writev, so nothing is lost by kill -9 and no lock is needed.
// - A write(2) to a file opened under a path ending in ".ack" is an acknowledgement: "what this line names is durable".
//   It is recorded before it is written, and is no part of the disk.
// - "-shm" files are left out: they are mapped memory, which SQLite rebuilds after a crash.
// - Needs a dynamically linked program: the calls are caught by name, as SQLite and Swift make them. glibc's own calls
//   (stdio) and descriptors made by dup are not seen; `replay --final DIR` finds out whether anything was missed.
//   What is seen and cannot be recorded (shared writable maps, fallocate, …) ends the program with a sentence.
//
// The order of things: a sync makes durable what was written before it *began*, so both its ends are recorded.
#define _GNU_SOURCE
#include "recording.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name)                                                                                                     \
    ({                                                                                                                 \
        static __typeof__(&name) real;                                                                                 \
        if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                                  \
        real;                                                                                                          \
    })

enum { descriptors = 1 << 16, seen_paths = 4096 };
static const uint64_t acknowledges = 1ull << 63;

static int recording = -1;
static char root[PATH_MAX];
static size_t root_length;
static _Atomic uint64_t handle_of[descriptors];  // 0: not one of ours
static _Atomic uint32_t serials;

static void stop(const char *why, const char *what) {
    char text[PATH_MAX + 200];
    int length = snprintf(text, sizeof text, "record.so: %s: %s\n", what, why);
    if (REAL(write)(2, text, (size_t)length) < 0) {}
    abort();
}

__attribute__((constructor)) static void start(void) {
    const char *directory = getenv("WHEREABOUTS_RECORD_DIR"), *file = getenv("WHEREABOUTS_RECORD_FILE");
    if (!directory || !file) return;
    if (!realpath(directory, root)) stop(strerror(errno), directory);
    root_length = strlen(root);
    int descriptor = REAL(open)(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (descriptor < 0) stop(strerror(errno), file);
    recording = fcntl(descriptor, F_DUPFD_CLOEXEC, 500);  // out of the way of programs that count on low numbers
    if (recording < 0) recording = descriptor;
    else REAL(close)(descriptor);
}

static void emit(uint32_t op, uint64_t handle, uint64_t offset, const void *first, size_t first_length,
                 const void *second, size_t second_length) {
    struct record record = {RECORD_MAGIC, op, handle, offset, first_length + second_length};
    struct iovec parts[] = {
        {&record, sizeof record}, {(void *)first, first_length}, {(void *)second, second_length}};
    ssize_t length = (ssize_t)(sizeof record + record.length);
    if (REAL(writev)(recording, parts, 3) != length) stop(strerror(errno), "the recording cannot be written");
}

// One number per open and per sync, distinct also between the processes that share a recording.
static uint64_t fresh(void) {
    return ((uint64_t)getpid() << 32 | ++serials) & ~acknowledges;
}

static uint64_t handle(int descriptor) {
    return descriptor >= 0 && descriptor < descriptors ? handle_of[descriptor] : 0;
}

static int ends(const char *path, const char *end) {
    size_t length = strlen(path), wanted = strlen(end);
    return length >= wanted && !strcmp(path + length - wanted, end);
}

// The path relative to the recorded directory, or NULL when it is elsewhere or not recorded.
static const char *below(const char *resolved) {
    if (strncmp(resolved, root, root_length) || ends(resolved, "-shm")) return NULL;
    if (!resolved[root_length]) return ".";
    return resolved[root_length] == '/' ? resolved + root_length + 1 : NULL;
}

// Resolves a path that need not exist; the answer points into `buffer` (PATH_MAX bytes). Keeps errno.
static const char *locate(int directory, const char *path, char *buffer) {
    if (recording < 0) return NULL;
    int before = errno;
    const char *result = NULL;
    char whole[PATH_MAX];
    int length = path[0] == '/' || directory == AT_FDCWD
                     ? snprintf(whole, sizeof whole, "%s", path)
                     : snprintf(whole, sizeof whole, "/proc/self/fd/%d/%s", directory, path);
    if (length > 0 && length < (int)sizeof whole) {
        if (realpath(whole, buffer)) {
            result = below(buffer);
        } else if (errno == ENOENT) {
            char *slash = strrchr(whole, '/');
            const char *name = slash ? slash + 1 : whole;
            char parent[PATH_MAX];
            size_t kept = slash ? (size_t)(slash - whole) : 0;
            memcpy(parent, whole, kept);
            strcpy(parent + kept, slash && !kept ? "/" : slash ? "" : ".");
            char resolved[PATH_MAX];
            if (realpath(parent, resolved)
                && snprintf(buffer, PATH_MAX, "%s/%s", resolved, name) < PATH_MAX) result = below(buffer);
        }
    }
    errno = before;
    return result;
}

// Hands over the content of a file that was there before this process met it, once per path.
static void record_base(const char *path, const char *resolved) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char *seen[seen_paths];
    static int count;
    pthread_mutex_lock(&lock);
    int known = 0;
    for (int i = 0; i < count && !known; i++) known = !strcmp(seen[i], path);
    if (!known && count < seen_paths) seen[count++] = strdup(path);
    pthread_mutex_unlock(&lock);
    if (known) return;
    int file = REAL(open)(resolved, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status)) stop(strerror(errno), resolved);
    char *content = malloc((size_t)status.st_size + 1);
    if (!content || read(file, content, (size_t)status.st_size) != status.st_size) stop("cannot be read", resolved);
    emit(BASE, 0, strlen(path), path, strlen(path), content, (size_t)status.st_size);
    free(content);
    REAL(close)(file);
}

// What is known of a path before it is opened.
struct opening {
    char resolved[PATH_MAX];
    const char *path;
    int existed;
};

static void before_open(struct opening *opening, int directory, const char *path) {
    struct stat status;
    int before = errno;
    opening->path = locate(directory, path, opening->resolved);
    if (!opening->path) return;
    opening->existed = !stat(opening->resolved, &status);
    if (opening->existed && S_ISREG(status.st_mode) && !ends(opening->path, ".ack"))
        record_base(opening->path, opening->resolved);
    errno = before;
}

static int after_open(const struct opening *opening, int descriptor, int flags) {
    if (descriptor < 0 || !opening->path) return descriptor;
    if (descriptor >= descriptors) stop("too many open files", opening->path);
    if (flags & (O_DSYNC | O_SYNC)) stop("opened with O_SYNC, which is not recorded", opening->path);
    if ((flags & O_TMPFILE) == O_TMPFILE) return descriptor;  // never has a name, gone after a crash
    struct stat status;
    int is_directory = !fstat(descriptor, &status) && S_ISDIR(status.st_mode);
    uint64_t fresh_handle = fresh() | (ends(opening->path, ".ack") ? acknowledges : 0);
    if (!(fresh_handle & acknowledges)) {
        uint64_t how = (opening->existed ? 0 : OPENED_CREATED) | (is_directory ? OPENED_DIRECTORY : 0)
                       | (flags & O_TRUNC ? OPENED_TRUNCATED : 0);
        emit(OPEN, fresh_handle, how, opening->path, strlen(opening->path), NULL, 0);
    }
    handle_of[descriptor] = fresh_handle;
    return descriptor;
}

static mode_t mode_argument(int flags, va_list arguments) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

int openat(int directory, const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_argument(flags, arguments);
    va_end(arguments);
    struct opening opening;
    before_open(&opening, directory, path);
    return after_open(&opening, REAL(openat)(directory, path, flags, mode), flags);
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_argument(flags, arguments);
    va_end(arguments);
    return openat(AT_FDCWD, path, flags, mode);
}

int creat(const char *path, mode_t mode) { return openat(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

// The 64-bit names, and those that _FORTIFY_SOURCE puts in for open without a mode.
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int directory, const char *path, int flags, ...) __attribute__((alias("openat")));
int creat64(const char *path, mode_t mode) __attribute__((alias("creat")));
int __open_2(const char *path, int flags) { return openat(AT_FDCWD, path, flags); }
int __open64_2(const char *path, int flags) { return openat(AT_FDCWD, path, flags); }
int __openat_2(int directory, const char *path, int flags) { return openat(directory, path, flags); }
int __openat64_2(int directory, const char *path, int flags) { return openat(directory, path, flags); }

int close(int descriptor) {
    uint64_t closing = handle(descriptor);
    if (closing) {
        handle_of[descriptor] = 0;
        if (!(closing & acknowledges)) emit(CLOSE, closing, 0, NULL, 0, NULL, 0);
    }
    return REAL(close)(descriptor);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    ssize_t written = REAL(pwrite)(descriptor, bytes, count, offset);
    uint64_t to = handle(descriptor);
    if (to & acknowledges) stop("acknowledgements are made with write", "pwrite");
    if (to && written > 0) emit(WRITE, to, (uint64_t)offset, bytes, (size_t)written, NULL, 0);
    return written;
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) __attribute__((alias("pwrite")));

ssize_t write(int descriptor, const void *bytes, size_t count) {
    uint64_t to = handle(descriptor);
    if (to & acknowledges) emit(ACK, to, 0, bytes, count, NULL, 0);
    ssize_t written = REAL(write)(descriptor, bytes, count);
    if (to && !(to & acknowledges) && written > 0) {
        off_t end = lseek(descriptor, 0, SEEK_CUR);
        emit(WRITE, to, (uint64_t)(end - written), bytes, (size_t)written, NULL, 0);
    }
    return written;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    if (!handle(descriptor)) return REAL(writev)(descriptor, parts, count);
    // As a caller must expect of writev, this may write less than was asked: the first part that holds anything.
    for (int i = 0; i < count; i++)
        if (parts[i].iov_len) return write(descriptor, parts[i].iov_base, parts[i].iov_len);
    return 0;
}

int ftruncate(int descriptor, off_t size) {
    int result = REAL(ftruncate)(descriptor, size);
    uint64_t of = handle(descriptor);
    if (!result && of && !(of & acknowledges)) emit(TRUNCATE, of, (uint64_t)size, NULL, 0, NULL, 0);
    return result;
}
int ftruncate64(int descriptor, off64_t size) __attribute__((alias("ftruncate")));

static int synced(int descriptor, int (*sync)(int)) {
    uint64_t of = handle(descriptor), serial = fresh();
    if (!of || of & acknowledges) return sync(descriptor);
    emit(SYNC_BEGIN, of, serial, NULL, 0, NULL, 0);
    int result = sync(descriptor);
    if (!result) emit(SYNC_END, of, serial, NULL, 0, NULL, 0);
    return result;
}
int fsync(int descriptor) { return synced(descriptor, REAL(fsync)); }
int fdatasync(int descriptor) { return synced(descriptor, REAL(fdatasync)); }

static int remove_entry(int directory, const char *path, int flags) {
    char resolved[PATH_MAX];
    const char *name = locate(directory, path, resolved);
    int result = REAL(unlinkat)(directory, path, flags);
    if (!result && name && !ends(name, ".ack")) emit(UNLINK, 0, 0, name, strlen(name), NULL, 0);
    return result;
}
int unlinkat(int directory, const char *path, int flags) { return remove_entry(directory, path, flags); }
int unlink(const char *path) { return remove_entry(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return remove_entry(AT_FDCWD, path, AT_REMOVEDIR); }

int renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags) {
    char from_resolved[PATH_MAX], to_resolved[PATH_MAX];
    const char *old_name = locate(from_directory, from, from_resolved);
    const char *new_name = locate(to_directory, to, to_resolved);
    if (flags && (old_name || new_name)) stop("renameat2 with flags is not recorded", from);
    if (!old_name != !new_name) stop("moved across the border of the recorded directory", from);
    int result = REAL(renameat2)(from_directory, from, to_directory, to, flags);
    if (!result && old_name)
        emit(RENAME, 0, strlen(old_name), old_name, strlen(old_name), new_name, strlen(new_name));
    return result;
}
int renameat(int from_directory, const char *from, int to_directory, const char *to) {
    return renameat2(from_directory, from, to_directory, to, 0);
}
int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int mkdirat(int directory, const char *path, mode_t mode) {
    int result = REAL(mkdirat)(directory, path, mode);
    char resolved[PATH_MAX];
    const char *name = result ? NULL : locate(directory, path, resolved);
    if (name) emit(MAKE_DIR, 0, 0, name, strlen(name), NULL, 0);
    return result;
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

// Seen, but not recorded: better no recording than one with a hole.
static void refuse(int descriptor, const char *call) {
    if (handle(descriptor)) stop("not recorded on files below the recorded directory", call);
}

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
    if (flags & MAP_SHARED && protection & PROT_WRITE) refuse(descriptor, "a shared writable mmap");
    return REAL(mmap)(address, length, protection, flags, descriptor, offset);
}
void *mmap64(void *, size_t, int, int, int, off64_t) __attribute__((alias("mmap")));

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) {
    refuse(descriptor, "pwritev");
    return REAL(pwritev)(descriptor, parts, count, offset);
}
ssize_t pwritev64(int, const struct iovec *, int, off64_t) __attribute__((alias("pwritev")));

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    refuse(descriptor, "fallocate");
    return REAL(fallocate)(descriptor, mode, offset, length);
}
int fallocate64(int, int, off64_t, off64_t) __attribute__((alias("fallocate")));

int posix_fallocate(int descriptor, off_t offset, off_t length) {
    refuse(descriptor, "posix_fallocate");
    return REAL(posix_fallocate)(descriptor, offset, length);
}
int posix_fallocate64(int, off64_t, off64_t) __attribute__((alias("posix_fallocate")));

ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t length, unsigned flags) {
    refuse(to, "copy_file_range");
    return REAL(copy_file_range)(from, from_offset, to, to_offset, length, flags);
}

ssize_t sendfile(int to, int from, off_t *offset, size_t count) {
    refuse(to, "sendfile");
    return REAL(sendfile)(to, from, offset, count);
}
ssize_t sendfile64(int, int, off64_t *, size_t) __attribute__((alias("sendfile")));
