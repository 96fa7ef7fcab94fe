// The allocator of the release programs.
#ifndef ALLOCATOR_H
#define ALLOCATOR_H

/// The settings that jemalloc reads at the start (jemalloc(3), TUNING); the variable MALLOC_CONF overrides them.
extern const char *malloc_conf;

#endif
