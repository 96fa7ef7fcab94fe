// The kernel's clock state: Swift's Glibc module lacks sys/timex.h.
#ifndef CLOCK_SUPPORT_H
#define CLOCK_SUPPORT_H

#include <sys/timex.h>

/// Whether something keeps the kernel's clock right (`adjtimex(2)`, which changes nothing here), and by how many
/// microseconds it may be off at the most.
static inline int clock_is_synchronized(long *max_error_microseconds) {
    struct timex clock = {0};
    int state = adjtimex(&clock);
    *max_error_microseconds = clock.maxerror;
    return state >= 0 && state != TIME_ERROR && (clock.status & STA_UNSYNC) == 0;
}

#endif
