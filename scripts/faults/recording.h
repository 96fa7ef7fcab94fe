// The form of a recording: what record.c writes and replay.c reads.
//
// A recording is a sequence of records in native byte order, each a `struct record` followed by `length` bytes of
// payload. Paths are relative to the recorded directory, which itself is "."; a handle stands for one successful open.
// Records stand in causal order: an operation is recorded after it has happened and before its caller goes on, an
// acknowledgement before it leaves.
//
//   op            handle  offset                  payload
//   BASE          0       length of the path      path, then the content the file had when this process met it
//   OPEN          new     OPENED_… flags          path
//   CLOSE         h       0
//   WRITE         h       offset in the file      the bytes written
//   TRUNCATE      h       the new size
//   SYNC_BEGIN    h       serial of the sync
//   SYNC_END      h       the same serial         only when the sync succeeded
//   UNLINK        0       0                       path (also of a directory)
//   RENAME        0       length of the old path  old path, then new path
//   MAKE_DIR      0       0                       path
//   ACK           h       0                       the bytes acknowledged, one line per acknowledgement
#ifndef RECORDING_H
#define RECORDING_H
#include <stdint.h>

enum { BASE = 1, OPEN, CLOSE, WRITE, TRUNCATE, SYNC_BEGIN, SYNC_END, UNLINK, RENAME, MAKE_DIR, ACK };
enum { OPENED_CREATED = 1, OPENED_TRUNCATED = 2, OPENED_DIRECTORY = 4 };

#define RECORD_MAGIC 0x57424552u  // "REBW": a torn or foreign recording is noticed, not misread

// Packed, as payloads of any length stand between records.
struct __attribute__((packed)) record {
    uint32_t magic;
    uint32_t op;
    uint64_t handle;
    uint64_t offset;
    uint64_t length;
};
#endif
