// The disk of a recorded run, as replay.c walks along it: what is durable for certain, what is pending (disk.c), and
// the images a crash can leave of the two (image.c).
//
// Data. A successful sync makes durable every write and truncation of its file recorded before it began. Of the later
// ones a crash leaves anything: each 512-byte sector holds, independently, what a random prefix of the pending writes
// to it made of it (all, none or some, so writes are torn and reordered, but a sector is never a mixture that was in
// no cache), and the size is that after a random prefix of the pending operations. What was never written is zero.
// Names. Creations, removals and renames are pending until a sync of the directory, or (unless `strict_entries`) of
// the file that was given a name; each pending one survives or not, independently.
// Every fourth state keeps nothing that was not synced, or keeps everything (a killed process, a disk in order).
#ifndef DISK_H
#define DISK_H
#include "recording.h"
#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

// A pending write, or a pending truncation if there are no bytes.
struct change {
    uint64_t sequence, offset, length;
    const uint8_t *bytes;
};

struct file {
    uint64_t id;
    int is_directory;
    uint8_t *base, *work;      // zero beyond `size` in base; work equals base between images
    size_t size, capacity;     // of the durable content; of both buffers, in whole pages
    uint8_t *stale, *touched;  // per page: the image may differ from base; work differs from base
    struct change *changes;
    size_t change_count, change_capacity;
    ino_t shown;  // inode of the image, 0 if none
    size_t shown_size;
    char shown_path[PATH_MAX];
};

// What a name means: for certain after a crash, at this moment of the run, and in the image being made.
enum { DURABLE, NOW, CHOSEN };
struct name {
    char *path;
    struct file *means[3];
};

// A pending change of names. `file` gets the name `to`; `from`, if any, loses it. Without a file, `to` is removed.
struct naming {
    uint64_t sequence;
    struct name *to, *from;
    struct file *file;
};

// Where the acknowledgements of the records gone through so far stand: lines, and the bytes themselves.
struct acknowledgements {
    uint64_t count;
    char *bytes;
    size_t length, capacity;
};

enum { page_size = 4096, sector_size = 512 };
extern struct name **names;
extern size_t name_count;
extern struct naming *namings;
extern size_t naming_count;
extern struct acknowledgements acknowledgements;

// When a new name is durable: at the first sync of its file, as ext4, XFS and Btrfs do it, or only at the sync of its
// directory, which is all that POSIX promises.
extern int strict_entries;

// Takes in the next record.
void disk_advance(const struct record *record, const uint8_t *payload);

// Writes into `directory` one of the states a crash at this moment can leave, the one that `seed` stands for.
// What is there already is reused where nobody has touched it.
void disk_crash(const char *directory, uint64_t seed);

// Whether the files below `directory` are what all records together make: 1, or 0 with the first difference in `text`.
int disk_equals(const char *directory, char *text, size_t length);

// Parts of the model that the images need.
struct file *new_file(int is_directory);
struct name *name_of(const char *path, size_t length);
void make_room(struct file *file, size_t size);
void flag(uint8_t *pages, size_t from, size_t to);
void apply_naming(const struct naming *naming, int where);
void live_content(const struct file *file, uint8_t **content, size_t *size);

// A well-mixed number from two (the finalizer of splitmix64).
uint64_t mix(uint64_t a, uint64_t b);

// Ends the program with a sentence and status 2.
__attribute__((format(printf, 1, 2), noreturn)) void fail(const char *format, ...);

// Memory, or the end of the program.
void *grown(void *memory, size_t size);
#endif
