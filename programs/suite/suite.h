/* What the programs of the suite share: how many processors there are, how many threads were asked for,
   numbers by chance that are the same in each run, and work that takes time. */
#ifndef PROUST_SUITE_H
#define PROUST_SUITE_H

#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Processors that this process may use: two where there is only one, so that there is something to share. */
static inline int processors(void)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    int count = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 2;
    return count < 2 ? 2 : count;
}

/* Argument 1, or a thread for each processor. The amount of work never depends on it. */
static inline int threads_asked(int argc, char **argv)
{
    int asked = argc > 1 ? atoi(argv[1]) : 0;
    return asked > 0 ? asked : processors();
}

/* xorshift: the same numbers in each run. */
static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* `rounds` dependent steps, some nanoseconds each. */
static inline double refine(double value, long rounds)
{
    for (long round = 0; round < rounds; round++)
        value = sqrt(value * 1.0000001 + 0.75) + 0.1;
    return value;
}

#define NOINLINE __attribute__((noinline))

#endif
