// What the C senders share: the fields of a push, and the figures at the end.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const char *const token = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
static const char *const topic = "org.example.app.location-query";
static const char *const collapse_id = "device-3";
static const char body[] = "{\"aps\":{},\"query\":\"6b1c4f6e-3f60-4cb9-9d1f-2f5f1a1f7a03\"}";

// The id of push `number`, which no other push has.
static inline void name_push(char id[37], uint64_t number) {
    snprintf(id, 37, "%08x-0000-4000-8000-%012llx", (unsigned)(number * 2654435761u), (unsigned long long)number);
}

// The provider token from the environment, signed once outside.
static inline const char *bearer(void) {
    static char text[600];
    const char *jwt = getenv("PROVIDER_TOKEN");
    snprintf(text, sizeof text, "bearer %s", jwt ? jwt : "none");
    return text;
}

static inline double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static inline double used(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static inline void report(uint64_t pushes, double seconds, double cpu) {
    printf("{\"pushes\":%llu,\"pushesPerSecond\":%.0f,\"cpuMicroseconds\":%.2f}\n", (unsigned long long)pushes,
           (double)pushes / seconds, cpu / (double)pushes * 1e6);
}
