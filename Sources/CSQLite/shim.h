#include <sqlite3.h>

/// Turns off SQLite's count of its memory, before any other call of SQLite. Variadic, so Swift cannot call it.
static inline int csqlite_turn_off_memory_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
