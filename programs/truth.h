/* What the programs share: a kernel that burns processor time, the clocks, and the form of the truth they
   print. */
#ifndef PROUST_PROGRAMS_TRUTH_H
#define PROUST_PROGRAMS_TRUTH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A function that stays a function of its own: not inlined, not cloned, its name unchanged. */
#if defined(__clang__)
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif
#define INLINED static inline __attribute__((always_inline))

/*
 * The kernel is a macro, not an inline function, so that its time belongs to the function it is written in
 * and no inlined call appears below it. Every step waits for the one before: about 1.5 ns, the same
 * everywhere. The empty assembly keeps compilers from making one step of several: Clang did four at once.
 */
#define BURN(x, steps)                                                                                       \
    do {                                                                                                     \
        for (uint64_t burn_step = (steps); burn_step != 0; burn_step--) {                                    \
            (x) = (x) * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);                       \
            __asm__ volatile("" : "+r"(x));                                                                  \
        }                                                                                                    \
    } while (0)

/* About 20 microseconds. */
#define UNIT UINT64_C(13000)

static inline double clock_now(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double thread_cpu(void) { return clock_now(CLOCK_THREAD_CPUTIME_ID); }
static inline double process_cpu(void) { return clock_now(CLOCK_PROCESS_CPUTIME_ID); }
static inline double wall(void) { return clock_now(CLOCK_MONOTONIC); }
static inline long thread_id(void) { return syscall(SYS_gettid); }

/* Argument `position` as seconds of work. */
static inline double seconds_argument(int argc, char **argv, int position, double otherwise)
{
    return argc > position ? atof(argv[position]) : otherwise;
}

/*
 * Units of work between half and one and a half times `mean`: a program whose steps all took equally long
 * could fall in step with the timer of whoever samples it, and every sample would hit the same function.
 */
static inline uint64_t uneven(uint64_t *state, uint64_t mean)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return mean / 2 + *state % mean;
}

/* What a kernel computed is kept here, so that the compiler cannot leave it out. */
static volatile uint64_t kept_result __attribute__((unused));

/* Burns that much CPU time of this thread. A clock is read once a millisecond, which costs 0.02 % of it. */
KEPT __attribute__((unused)) static void burn_cpu(double seconds)
{
    uint64_t x = kept_result;
    double end = thread_cpu() + seconds;
    do
        BURN(x, 50 * UNIT);
    while (thread_cpu() < end);
    kept_result = x;
}

#endif
