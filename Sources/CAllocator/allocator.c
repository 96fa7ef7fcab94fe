#include "allocator.h"

// Two arenas: memory of a long answer stays in the arena of its thread, so with one for each processor it would stay many
// times. Pages that are free for half a second go back to the system. Threads of jemalloc's own do that: without them, a thread
// does it when it allocates, and an idle service would keep the pages that its start needed.
const char *malloc_conf = "narenas:2,background_thread:true,dirty_decay_ms:500,muzzy_decay_ms:0";
