/*
 * Parallel code that is so fine that measuring it takes a visible part of its time.
 * fine [CASE] [COUNT] [WORK] [THREADS]
 *
 * barriers  a step of work and a barrier, COUNT times
 * nest      a work-sharing construct in the innermost of three loops, over rows of a dozen cells
 * regions   a parallel region for each step of work
 * sections  a critical section for each step of work, entered by one thread at a time
 *
 * The work is counted in steps, so that it is the same with every number of threads and whoever measures it:
 * WORK steps of about 1.5 ns in all, divided among the threads. Prints how long the whole took by its own
 * clock, and what processor time the first thread used.
 */
#include "../truth.h"
#include <omp.h>
#include <string.h>

static uint64_t cells[64][16];
static uint64_t result[64][32];

/* A thread's part of the steps. */
INLINED uint64_t part(uint64_t x, uint64_t work)
{
    BURN(x, work / (uint64_t)omp_get_num_threads());
    return x;
}

KEPT static void barriers(long count, uint64_t work)
{
#pragma omp parallel
    {
        uint64_t x = (uint64_t)omp_get_thread_num(), mine = work / (uint64_t)omp_get_num_threads();
        for (long i = 0; i < count; i++) {
            BURN(x, mine);
#pragma omp barrier
        }
        result[omp_get_thread_num()][0] = x;
    }
}

/* As a solver's first nest before somebody moved the construct outwards. */
KEPT static void nest(long count, uint64_t work)
{
#pragma omp parallel
    for (long plane = 0; plane < count / 64; plane++)
        for (int row = 0; row < 64; row++) {
#pragma omp for schedule(static)
            for (int cell = 0; cell < 12; cell++) {
                uint64_t x = cells[row][cell];
                BURN(x, work / 12);
                cells[row][cell] = x;
            }
        }
}

KEPT static void regions(long count, uint64_t work)
{
    for (long i = 0; i < count; i++) {
#pragma omp parallel
        result[omp_get_thread_num()][0] = part((uint64_t)i, work);
    }
}

KEPT static void sections(long count, uint64_t work)
{
    static uint64_t shared;
#pragma omp parallel
    for (long i = 0; i < count / omp_get_num_threads(); i++) {
        uint64_t x = (uint64_t)i;
        BURN(x, work);
#pragma omp critical
        shared += x;
    }
    result[0][0] += shared;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "barriers";
    long count = argc > 2 ? atol(argv[2]) : 1000000;
    uint64_t work = argc > 3 ? strtoull(argv[3], NULL, 10) : 60;
    omp_set_dynamic(0);
    if (argc > 4)
        omp_set_num_threads(atoi(argv[4]));
    /* The threads are there before the clock is looked at. */
#pragma omp parallel
    result[omp_get_thread_num()][1] = 1;
    double begin = wall(), cpu = thread_cpu();
    if (strcmp(name, "nest") == 0)
        nest(count, work);
    else if (strcmp(name, "regions") == 0)
        regions(count, work);
    else if (strcmp(name, "sections") == 0)
        sections(count, work);
    else
        barriers(count, work);
    double took = wall() - begin;
    cpu = thread_cpu() - cpu;
    printf("{\"program\":\"openmp-fine\",\"case\":\"%s\",\"threads\":%d,\"time_s\":%.9f,\"cpu_s\":%.9f,"
           "\"result\":%llu}\n",
           name, omp_get_max_threads(), took, cpu, (unsigned long long)(result[0][0] & 1));
    return 0;
}
