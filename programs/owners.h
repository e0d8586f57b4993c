/* Functions of work for a known owner, which count what they cost. */
#ifndef PROUST_PROGRAMS_OWNERS_H
#define PROUST_PROGRAMS_OWNERS_H

#include "truth.h"

#include <atomic>

static const int PARTS = 32;

/* A function that burns that much CPU time of its thread, and counts it. */
#define WORK(name)                                                                                           \
    static std::atomic<uint64_t> name##_ns;                                                                  \
    KEPT static void name(double seconds)                                                                    \
    {                                                                                                        \
        double from = thread_cpu(), now = from;                                                              \
        uint64_t x = kept_result;                                                                            \
        while (now < from + seconds) {                                                                       \
            BURN(x, 10 * UNIT);                                                                              \
            now = thread_cpu();                                                                              \
        }                                                                                                    \
        kept_result = x;                                                                                     \
        name##_ns += (uint64_t)((now - from) * 1e9);                                                         \
    }

/* A call that stays one: the caller has something to do afterwards. */
#define CALLED(call)                                                                                         \
    (call);                                                                                                  \
    __asm__ volatile("")

/* A line of the truth. */
#define OWNER(owner, work, end)                                                                              \
    printf("{\"owner\":\"%s\",\"work\":\"%s\",\"cpu_s\":%.6f}%s", owner, #work, 1e-9 * (double)work##_ns, end)

#endif
