// glibc's allocator: Swift's Glibc module leaves malloc.h out.
#ifndef MEMORY_SUPPORT_H
#define MEMORY_SUPPORT_H

#include <malloc.h>

/// Lets all threads share so many arenas (`M_ARENA_MAX` of `mallopt(3)`); those that are there already stay.
static inline void memory_share_arenas(int count) { mallopt(M_ARENA_MAX, count); }

#endif
