#include "allocator.h"

// Two arenas: memory of a long answer stays in the arena of its thread, so with one for each processor it would stay many
// times. Pages that are free for half a second go back to the system. jemalloc's background threads do that. Without
// them, pages go back only when a thread allocates, so an idle service would keep what only its start needed.
const char *malloc_conf = "narenas:2,background_thread:true,dirty_decay_ms:500,muzzy_decay_ms:0";
