/*
 * Two threads that meet at a barrier very often, and read the processor's counter before and behind it.
 * often [SECONDS] [CASE] [WORK]
 *
 * steady  the second thread works half as long again as the first; every third step it is the other way round
 * uneven  besides, in one step of 500 the first thread comes 60 microseconds late
 * phases  besides, every 20 milliseconds the first thread works alone for 10, and the other waits at the
 *         same place regions as steady, 40 steps a region sites   as steady, in three places by turns, and
 *         a fourth in one step of 200 with 300 microseconds to wait late    the second thread works twice
 *         as long as the first in each step alone   a team of one
 *
 * WORK is how often a thread goes round for a step; 300 are some tenths of a microsecond. Prints what each
 * thread waited and worked by the counter (waits without what reading it takes), and how often it came.
 */
#include "../truth.h"
#include <omp.h>
#include <string.h>
#include <x86intrin.h>

/* What one thread writes shares no line of the processor's cache, nor the one beside it, with what the other
 * writes: a store that waits for such a line would be waited for in the barrier. */
static struct {
    uint64_t wait, work, barriers, begin, result;
} __attribute__((aligned(256))) of_thread[2];

static volatile int over;
static double until;

/* When all before it is done, and nothing behind it has begun: the processor would do some of the work after
   reading otherwise. */
static uint64_t reading = UINT64_MAX;

static inline uint64_t counter(void)
{
    _mm_lfence();
    uint64_t now = __rdtsc();
    _mm_lfence();
    return now;
}

/* What reading the counter takes: it lies once in each wait. */
static void learn_reading(void)
{
    for (int i = 0; i < 10000; i++) {
        uint64_t begin = counter(), took = counter() - begin;
        if (took < reading)
            reading = took;
    }
}

static void work_alone(double seconds)
{
    double end = wall() + seconds;
    while (wall() < end)
        ;
}

static uint64_t steps(uint64_t x, uint64_t count)
{
    BURN(x, count);
    return x;
}

/* A function of its own for each place. */
#define PLACE(name)                                                                                          \
    KEPT static void name(int me)                                                                            \
    {                                                                                                        \
        uint64_t begin = counter();                                                                          \
        _Pragma("omp barrier") uint64_t end = counter();                                                     \
        of_thread[me].work += begin - of_thread[me].begin + reading;                                         \
        of_thread[me].wait += end - begin - reading;                                                         \
        of_thread[me].begin = end;                                                                           \
        of_thread[me].barriers++;                                                                            \
    }
PLACE(meet)
PLACE(meet_second)
PLACE(meet_third)
PLACE(meet_seldom)

static uint64_t work = 300;

static double at_counter_begin;
static uint64_t counter_begin;

static double seconds_of(uint64_t ticks)
{
    return (double)ticks * (wall() - at_counter_begin) / (double)(__rdtsc() - counter_begin);
}

static void step(int me, long i, const char *name)
{
    int is_late = strcmp(name, "late") == 0;
    int late = i % 3 == 2 && !is_late ? 0 : 1;
    uint64_t x = steps((uint64_t)i, me == late ? work + work / (is_late ? 1 : 2) : work);
    if (me == 0 && strcmp(name, "uneven") == 0 && i % 500 == 250)
        work_alone(60e-6);
    of_thread[me].result = x;
    if (strcmp(name, "sites") != 0) {
        meet(me);
    } else if (i % 200 == 199) {
        if (me == 1)
            work_alone(300e-6);
        meet_seldom(me);
    } else {
        (i % 3 == 0 ? meet : i % 3 == 1 ? meet_second : meet_third)(me);
    }
}

static void one_region(const char *name, long most)
{
    int is_phases = strcmp(name, "phases") == 0;
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        double next = wall() + 0.02;
        of_thread[me].begin = counter();
        for (long i = 0; i < most; i++) {
            step(me, i, name);
            if (i % 1000 == 998 && most > 1000) {
                if (me == 0 && is_phases && wall() > next) {
                    work_alone(0.01);
                    next = wall() + 0.02;
                }
                if (me == 0)
                    over = wall() >= until;
                /* Nobody has more than one step's start on the others. */
                meet(me);
                if (over)
                    break;
            }
        }
    }
}

int main(int argc, char **argv)
{
    until = seconds_argument(argc, argv, 1, 0.5) + wall();
    const char *name = argc > 2 ? argv[2] : "steady";
    if (argc > 3)
        work = strtoull(argv[3], NULL, 10);
    omp_set_dynamic(0);
    omp_set_num_threads(strcmp(name, "alone") == 0 ? 1 : 2);
    learn_reading();
    counter_begin = __rdtsc();
    at_counter_begin = wall();
    if (strcmp(name, "regions") == 0)
        while (wall() < until)
            one_region(name, 40);
    else
        one_region(name, 1L << 40);
    printf("{\"program\":\"openmp-often\",\"case\":\"%s\",\"wall_s\":%.6f,\"threads\":[", name,
           wall() - at_counter_begin);
    for (int i = 0; i < omp_get_max_threads(); i++)
        printf("%s{\"wait_s\":%.6f,\"work_s\":%.6f,\"barriers\":%lu}", i ? "," : "",
               seconds_of(of_thread[i].wait), seconds_of(of_thread[i].work),
               (unsigned long)of_thread[i].barriers);
    printf("]}\n");
    return 0;
}
