#include "allocator.h"

// Two arenas: memory of a long answer stays in the arena of its thread, so with one for each processor it would stay many
// times. Pages that are free for half a second go back to the system.
const char *malloc_conf = "narenas:2,dirty_decay_ms:500,muzzy_decay_ms:0";
