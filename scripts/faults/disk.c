// The model of the disk: takes in records, knows what is durable and what is pending. The rules are in disk.h.
#define _GNU_SOURCE
#include "disk.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int strict_entries;
struct acknowledgements acknowledgements;

struct open_file {
    uint64_t handle;
    struct file *file;
};

struct sync {
    uint64_t serial, began;
};

struct name **names;
struct naming *namings;
size_t name_count, naming_count;
static struct open_file *open_files;
static struct sync *syncs;
static size_t open_count, sync_count;
static uint64_t sequence, file_count;

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("replay: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

void *grown(void *memory, size_t size) {
    memory = realloc(memory, size ? size : 1);
    if (!memory) fail("out of memory");
    return memory;
}

// Appends room for one more element to an array that doubles.
#define ADD(array, count)                                                                                              \
    (((count) & ((count) - 1)) == 0                                                                                    \
         ? (void)((array) = grown((array), sizeof *(array) * ((count) ? 2 * (count) : 1)))                             \
         : (void)0,                                                                                                    \
     &(array)[(count)++])

uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t z = a * 0x9e3779b97f4a7c15u + b + 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// MARK: - files

struct file *new_file(int is_directory) {
    struct file *file = grown(NULL, sizeof *file);
    memset(file, 0, sizeof *file);
    if (!is_directory) file->id = ++file_count;
    file->is_directory = is_directory;
    return file;
}

void make_room(struct file *file, size_t size) {
    if (size <= file->capacity) return;
    size_t capacity = file->capacity ? file->capacity : 16 * page_size;
    while (capacity < size) capacity *= 2;
    file->base = grown(file->base, capacity);
    file->work = grown(file->work, capacity);
    file->stale = grown(file->stale, capacity / page_size);
    file->touched = grown(file->touched, capacity / page_size);
    memset(file->base + file->capacity, 0, capacity - file->capacity);
    memset(file->work + file->capacity, 0, capacity - file->capacity);
    memset(file->stale + file->capacity / page_size, 1, (capacity - file->capacity) / page_size);
    memset(file->touched + file->capacity / page_size, 0, (capacity - file->capacity) / page_size);
    file->capacity = capacity;
}

void flag(uint8_t *pages, size_t from, size_t to) {
    for (size_t page = from / page_size; page * page_size < to; page++) pages[page] = 1;
}

static void apply(struct file *file, const struct change *change) {
    size_t end = change->offset + change->length;
    if (change->bytes) {
        make_room(file, end);
        memcpy(file->base + change->offset, change->bytes, change->length);
        memcpy(file->work + change->offset, change->bytes, change->length);
        flag(file->stale, change->offset, end);
        if (end > file->size) file->size = end;
    } else {
        make_room(file, end);
        if (change->offset < file->size) {
            memset(file->base + change->offset, 0, file->size - change->offset);
            memset(file->work + change->offset, 0, file->size - change->offset);
            flag(file->stale, change->offset, file->size);
        }
        file->size = change->offset;
    }
}

static void make_durable(struct file *file, uint64_t before) {
    size_t done = 0;
    while (done < file->change_count && file->changes[done].sequence < before) apply(file, &file->changes[done++]);
    file->change_count -= done;
    memmove(file->changes, file->changes + done, file->change_count * sizeof *file->changes);
}

static void add_change(struct file *file, uint64_t offset, uint64_t length, const uint8_t *bytes) {
    if (file->change_count == file->change_capacity) {
        file->change_capacity = file->change_capacity ? 2 * file->change_capacity : 64;
        file->changes = grown(file->changes, file->change_capacity * sizeof *file->changes);
    }
    file->changes[file->change_count++] = (struct change){sequence, offset, length, bytes};
}

// What the file holds at this moment of the run.
void live_content(const struct file *file, uint8_t **content, size_t *size) {
    struct file copy = {.size = 0};
    apply(&copy, &(struct change){0, 0, file->size, file->base ? file->base : (const uint8_t *)""});
    for (size_t i = 0; i < file->change_count; i++) apply(&copy, &file->changes[i]);
    *content = copy.base;
    *size = copy.size;
    free(copy.work), free(copy.stale), free(copy.touched);
}

// MARK: - names

struct name *name_of(const char *path, size_t length) {
    for (size_t i = 0; i < name_count; i++)
        if (strlen(names[i]->path) == length && !memcmp(names[i]->path, path, length)) return names[i];
    struct name *name = grown(NULL, sizeof *name);
    *name = (struct name){.path = strndup(path, length)};
    *ADD(names, name_count) = name;
    return name;
}

// Whether `path` stands directly in `directory`.
static int is_in(const char *path, const char *directory) {
    const char *slash = strrchr(path, '/');
    if (!slash) return !strcmp(directory, ".");
    return strlen(directory) == (size_t)(slash - path) && !strncmp(path, directory, (size_t)(slash - path));
}

// Whether the directory `ancestor` stands somewhere above `path`.
static int is_above(const char *path, const char *ancestor) {
    size_t length = strlen(ancestor);
    return !strncmp(path, ancestor, length) && path[length] == '/';
}

void apply_naming(const struct naming *naming, int where) {
    // A file has one name at a time, also when an earlier of its renames was lost.
    for (size_t i = 0; naming->file && i < name_count; i++)
        if (names[i]->means[where] == naming->file) names[i]->means[where] = NULL;
    if (naming->from) naming->from->means[where] = NULL;
    naming->to->means[where] = naming->file;
}

static void add_naming(struct name *to, struct name *from, struct file *file) {
    *ADD(namings, naming_count) = (struct naming){sequence, to, from, file};
    apply_naming(&namings[naming_count - 1], NOW);
}

static void make_names_durable(const struct file *synced, uint64_t before) {
    const char *path = "";
    for (size_t i = 0; i < name_count; i++)
        if (names[i]->means[NOW] == synced) path = names[i]->path;
    size_t kept = 0;
    for (size_t i = 0; i < naming_count; i++) {
        struct naming naming = namings[i];
        int is_entry = synced->is_directory && is_in(naming.to->path, path);
        int is_itself = naming.file == synced || (naming.file && is_above(path, naming.to->path));
        if ((is_entry || (is_itself && !strict_entries)) && naming.sequence < before) apply_naming(&naming, DURABLE);
        else namings[kept++] = naming;
    }
    naming_count = kept;
}

// MARK: - records

static struct file *file_of(uint64_t handle) {
    for (size_t i = open_count; i-- > 0;)
        if (open_files[i].handle == handle) return open_files[i].file;
    fail("a handle that was never opened: the recording is damaged");
}

static void take_base(const char *path, size_t path_length, const uint8_t *content, size_t length) {
    struct name *name = name_of(path, path_length);
    if (name->means[NOW]) {  // a second process met a file that the first one wrote
        uint8_t *known;
        size_t size;
        live_content(name->means[NOW], &known, &size);
        if (size != length || memcmp(known, content, size))
            fail("%s was written to while nobody recorded", name->path);
        free(known);
        return;
    }
    struct file *file = new_file(0);
    apply(file, &(struct change){sequence, 0, length, content});
    name->means[NOW] = name->means[DURABLE] = file;
}

static void take_open(const struct record *record, const char *path) {
    struct name *name = name_of(path, record->length);
    if (!name->means[NOW] || record->offset & OPENED_CREATED) {
        struct file *file = new_file((record->offset & OPENED_DIRECTORY) != 0);
        if (record->offset & OPENED_CREATED) add_naming(name, NULL, file);
        else name->means[NOW] = name->means[DURABLE] = file;  // a directory that was there before
    } else if (record->offset & OPENED_TRUNCATED) {
        add_change(name->means[NOW], 0, 0, NULL);
    }
    *ADD(open_files, open_count) = (struct open_file){record->handle, name->means[NOW]};
}

static void take_close(uint64_t handle) {
    size_t at = 0;
    while (at < open_count && open_files[at].handle != handle) at++;
    if (at == open_count) fail("a handle is closed that was never opened: the recording is damaged");
    memmove(open_files + at, open_files + at + 1, (open_count - at - 1) * sizeof *open_files);
    open_count--;
}

static void take_sync_end(const struct record *record) {
    for (size_t i = sync_count; i-- > 0;) {
        if (syncs[i].serial != record->offset) continue;
        struct file *file = file_of(record->handle);
        make_durable(file, syncs[i].began);
        make_names_durable(file, syncs[i].began);
        syncs[i] = syncs[--sync_count];
        return;
    }
    fail("a sync ends that never began: the recording is damaged");
}

static void take_acknowledgement(const uint8_t *bytes, size_t length) {
    struct acknowledgements *all = &acknowledgements;
    if (all->length + length > all->capacity) {
        all->capacity = 2 * (all->length + length);
        all->bytes = grown(all->bytes, all->capacity);
    }
    memcpy(all->bytes + all->length, bytes, length);
    all->length += length;
    for (size_t i = 0; i < length; i++) all->count += bytes[i] == '\n';
}

void disk_advance(const struct record *record, const uint8_t *payload) {
    const char *path = (const char *)payload;
    sequence++;
    switch (record->op) {
    case BASE: take_base(path, record->offset, payload + record->offset, record->length - record->offset); break;
    case OPEN: take_open(record, path); break;
    case CLOSE: take_close(record->handle); break;
    case WRITE: add_change(file_of(record->handle), record->offset, record->length, payload); break;
    case TRUNCATE: add_change(file_of(record->handle), record->offset, 0, NULL); break;
    case SYNC_BEGIN: *ADD(syncs, sync_count) = (struct sync){record->offset, sequence}; break;
    case SYNC_END: take_sync_end(record); break;
    case UNLINK: add_naming(name_of(path, record->length), NULL, NULL); break;
    case RENAME: {
        struct name *from = name_of(path, record->offset);
        struct name *to = name_of(path + record->offset, record->length - record->offset);
        // Never opened while recording: nothing is known of its content.
        if (!from->means[NOW]) from->means[NOW] = from->means[DURABLE] = new_file(0);
        add_naming(to, from, from->means[NOW]);
        break;
    }
    case MAKE_DIR: add_naming(name_of(path, record->length), NULL, new_file(1)); break;
    case ACK: take_acknowledgement(payload, record->length); break;
    default: fail("operation %u is unknown: the recording is of another version", record->op);
    }
}

