// The images: what a crash leaves, written to a directory, and the end of the run compared with the real files.
//
// For speed the base of each file stays in memory with a working copy beside it. An image on the disk is patched page
// by page from the previous one; its modification time is set to a mark of its own, so that a file which the checker
// wrote to is noticed and written anew. (A checker that writes through shared memory maps would not be noticed.)
#define _GNU_SOURCE
#include "disk.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// How much survives in one state: the shares, of 65,536, of sectors that keep nothing of the pending changes, and of
// the others that keep everything; and the number of pending operations whose size survives.
struct survival {
    uint64_t seed;
    uint32_t nothing, everything;
    size_t sized;
};

static struct survival survival_of(const struct file *file, uint64_t seed) {
    size_t count = file->change_count;
    switch (mix(seed, 1) % 8) {
    case 0: return (struct survival){seed, 65536, 0, 0};
    case 1: return (struct survival){seed, 0, 65536, count};
    default: return (struct survival){mix(seed, file->id), mix(seed, 2) & 0xffff, mix(seed, 3) & 0xffff,
                                      mix(mix(seed, 4), file->id) % (count + 1)};
    }
}

// The number of the pending changes, counted from the first, that reached a sector.
static size_t reached(const struct survival *survival, size_t sector, size_t count) {
    uint64_t chance = mix(survival->seed, sector);
    if ((chance & 0xffff) < survival->nothing) return 0;
    if ((chance >> 16 & 0xffff) < survival->everything) return count;
    return (chance >> 32) % (count + 1);
}

// Puts what survives of the pending changes into `work`; returns the size of the file.
static size_t overlay(struct file *file, uint64_t seed) {
    struct survival survival = survival_of(file, seed);
    size_t size = file->size, high = file->size;
    for (size_t i = 0; i < file->change_count; i++) {
        const struct change *change = &file->changes[i];
        size_t end = change->offset + change->length;
        make_room(file, end);
        if (change->bytes) {
            if (end > high) high = end;
            if (i < survival.sized && end > size) size = end;
            for (size_t from = change->offset, to; from < end; from = to) {
                size_t sector = from / sector_size;
                to = (sector + 1) * sector_size < end ? (sector + 1) * sector_size : end;
                if (i >= reached(&survival, sector, file->change_count)) continue;
                memcpy(file->work + from, change->bytes + (from - change->offset), to - from);
                file->touched[from / page_size] = 1;
            }
        } else if (i < survival.sized) {
            if (change->offset < high) {
                memset(file->work + change->offset, 0, high - change->offset);
                flag(file->touched, change->offset, high);
            }
            size = change->offset;
        }
    }
    return size;
}

static void write_whole(int descriptor, const uint8_t *bytes, size_t length, size_t offset, const char *path) {
    while (length) {
        ssize_t written = pwrite(descriptor, bytes, length, (off_t)offset);
        if (written <= 0) fail("%s: %s", path, strerror(errno));
        bytes += written, offset += (size_t)written, length -= (size_t)written;
    }
}

// Brings the image at `path` to the first `size` bytes of `work`, then sets `work` back to the base.
static void show(struct file *file, const char *path, size_t size) {
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat status;
    struct timespec mark = {1, (long)file->id};
    if (descriptor < 0 || fstat(descriptor, &status)) fail("%s: %s", path, strerror(errno));
    int is_ours = file->shown == status.st_ino && file->shown_size == (size_t)status.st_size
                  && status.st_mtim.tv_sec == mark.tv_sec && status.st_mtim.tv_nsec == mark.tv_nsec
                  && !strcmp(file->shown_path, path);
    size_t pages = (size + page_size - 1) / page_size;
    if (!is_ours) {
        if (pages) memset(file->stale, 1, pages);
        if (ftruncate(descriptor, 0)) fail("%s: %s", path, strerror(errno));
        status.st_size = 0;
    }
    if ((size_t)status.st_size != size && ftruncate(descriptor, (off_t)size)) fail("%s: %s", path, strerror(errno));
    for (size_t page = 0; page < pages;) {
        size_t last = page;
        while (last < pages && (file->stale[last] || file->touched[last])) last++;
        if (last > page) {
            size_t from = page * page_size, to = last * page_size < size ? last * page_size : size;
            write_whole(descriptor, file->work + from, to - from, from, path);
        }
        page = last + 1;
    }
    for (size_t page = 0; page < file->capacity / page_size; page++) {
        // Past the end of this image there is nothing that a longer one could reuse.
        file->stale[page] = file->touched[page] || (page + 1) * page_size > size;
        if (!file->touched[page]) continue;
        memcpy(file->work + page * page_size, file->base + page * page_size, page_size);
        file->touched[page] = 0;
    }
    if (futimens(descriptor, (struct timespec[]){mark, mark})) fail("%s: %s", path, strerror(errno));
    close(descriptor);
    file->shown = status.st_ino;
    file->shown_size = size;
    snprintf(file->shown_path, sizeof file->shown_path, "%s", path);
}

static struct name *chosen_at(const char *path) {
    for (size_t i = 0; i < name_count; i++)
        if (names[i]->means[CHOSEN] && !strcmp(names[i]->path, path)) return names[i];
    return NULL;
}

// Removes what stands below `root` and is not in the image.
static void sweep(const char *root, const char *relative, int wanted) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, relative);
    DIR *directory = opendir(path);
    if (!directory) fail("%s: %s", path, strerror(errno));
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        char inner[PATH_MAX];
        snprintf(inner, sizeof inner, "%s%s%s", relative, *relative ? "/" : "", entry->d_name);
        struct name *name = wanted ? chosen_at(inner) : NULL;
        int is_directory = entry->d_type == DT_DIR;
        if (is_directory) sweep(root, inner, name && name->means[CHOSEN]->is_directory);
        if (name && name->means[CHOSEN]->is_directory == is_directory) continue;
        if (unlinkat(dirfd(directory), entry->d_name, is_directory ? AT_REMOVEDIR : 0))
            fail("%s/%s: %s", root, inner, strerror(errno));
    }
    closedir(directory);
}

static int parent_survives(const char *path) {
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%s", path);
    for (char *slash; (slash = strrchr(parent, '/'));) {
        *slash = 0;
        struct name *name = name_of(parent, strlen(parent));
        // A directory that nobody made while recording was there before.
        if (!name->means[CHOSEN] && (name->means[NOW] || name->means[DURABLE])) return 0;
        if (!name->means[CHOSEN]) name->means[CHOSEN] = name->means[DURABLE] = name->means[NOW] = new_file(1);
    }
    return 1;
}

static int by_path(const void *a, const void *b) {
    return strcmp((*(struct name *const *)a)->path, (*(struct name *const *)b)->path);
}

void disk_crash(const char *directory, uint64_t seed) {
    for (size_t i = 0; i < name_count; i++) names[i]->means[CHOSEN] = names[i]->means[DURABLE];
    uint64_t mode = mix(seed, 1) % 8;
    for (size_t i = 0; i < naming_count; i++)
        if (mode == 1 || (mode && mix(mix(seed, 5), i) & 1)) apply_naming(&namings[i], CHOSEN);
    for (size_t i = 0; i < name_count; i++)
        if (names[i]->means[CHOSEN] && !parent_survives(names[i]->path)) names[i]->means[CHOSEN] = NULL;
    sweep(directory, "", 1);
    qsort(names, name_count, sizeof *names, by_path);  // directories before what is in them
    for (size_t i = 0; i < name_count; i++) {
        struct file *file = names[i]->means[CHOSEN];
        char path[PATH_MAX];
        if (!file || snprintf(path, sizeof path, "%s/%s", directory, names[i]->path) >= PATH_MAX) continue;
        if (!file->is_directory) show(file, path, overlay(file, seed));
        else if (mkdir(path, 0700) && errno != EEXIST) fail("%s: %s", path, strerror(errno));
    }
}

// MARK: - the end of the run

static int compare(const char *root, const char *relative, size_t *found, char *text, size_t length) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, relative);
    DIR *directory = opendir(path);
    if (!directory) fail("%s: %s", path, strerror(errno));
    int equal = 1;
    for (struct dirent *entry; equal && (entry = readdir(directory));) {
        size_t end = strlen(entry->d_name);
        const char *tail = entry->d_name + (end > 4 ? end - 4 : 0);
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (!strcmp(tail, "-shm") || !strcmp(tail, ".ack")) continue;
        char inner[PATH_MAX];
        snprintf(inner, sizeof inner, "%s%s%s", relative, *relative ? "/" : "", entry->d_name);
        if (entry->d_type == DT_DIR) {
            equal = compare(root, inner, found, text, length);
            continue;
        }
        struct name *name = name_of(inner, strlen(inner));
        snprintf(path, sizeof path, "%s/%s", root, inner);
        FILE *stream = fopen(path, "r");
        struct stat status;
        if (!stream || fstat(fileno(stream), &status)) fail("%s: %s", path, strerror(errno));
        uint8_t *real = grown(NULL, (size_t)status.st_size), *content = NULL;
        size_t size = 0;
        if (fread(real, 1, (size_t)status.st_size, stream) != (size_t)status.st_size) fail("%s: unreadable", path);
        if (name->means[NOW]) live_content(name->means[NOW], &content, &size);
        equal = name->means[NOW] && size == (size_t)status.st_size && !memcmp(real, content, size);
        if (!equal) snprintf(text, length, "%.200s", inner);
        *found += 1;
        free(real), free(content), fclose(stream);
    }
    closedir(directory);
    return equal;
}

int disk_equals(const char *directory, char *text, size_t length) {
    size_t found = 0, expected = 0;
    if (!compare(directory, "", &found, text, length)) return 0;
    for (size_t i = 0; i < name_count; i++) expected += names[i]->means[NOW] && !names[i]->means[NOW]->is_directory;
    if (found == expected) return 1;
    snprintf(text, length, "%zu files where the recording has %zu", found, expected);
    return 0;
}
