/*
 * What becomes slower or faster with the number of threads. Argument 1: which; argument 2: seconds of work
 * of one thread, roughly: the work is counted in steps, so that it is the same with every number of
 * threads.
 *
 * `inner`    a work-sharing construct in the innermost loop: a barrier for every 50 ns of work
 * `outer`    the same work, the construct moved to the outermost loop
 * `control`  one large loop in even parts
 * `sharing`  counters of all threads in one cache line
 * `apart`    the same counters, each in a line of its own
 * `serial`   a loop that only one thread does, and then a parallel one
 *
 * It prints its own times: `region_s` from before to behind the parallel region, `wall_s` of main.
 */
#include "../truth.h"
#include <omp.h>
#include <string.h>

#define ROWS 96
#define COLUMNS 16
#define SOME 256

static double region_s;
static uint64_t grid[ROWS][COLUMNS];

/* Steps that no compiler makes fewer of: some know how to take many of these at once. */
#define STEPS(x, steps)                                                                                      \
    do {                                                                                                     \
        for (uint64_t step = (steps); step != 0; step--) {                                                   \
            (x) = (x) * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);                       \
            __asm__ volatile("" : "+r"(x));                                                                  \
        }                                                                                                    \
    } while (0)

/* One cell: about 3 ns. A barrier of two threads takes longer than what a second thread saves of a row. */
INLINED void relax(int row, int column)
{
    uint64_t x = grid[row][column];
    STEPS(x, 2);
    grid[row][column] = x;
}

/* One region around the loop over rows; a barrier after every row. */
KEPT static void construct_inside(long sweeps)
{
#pragma omp parallel
    for (long sweep = 0; sweep < sweeps; sweep++)
        for (int row = 0; row < ROWS; row++) {
#pragma omp for
            for (int column = 0; column < COLUMNS; column++)
                relax(row, column);
        }
}

/* A barrier for every millisecond of work. */
KEPT static void construct_outside(long sweeps)
{
#pragma omp parallel
    for (long sweep = 0; sweep < sweeps / SOME; sweep++) {
#pragma omp for
        for (int row = 0; row < ROWS; row++)
            for (int again = 0; again < SOME; again++)
                for (int column = 0; column < COLUMNS; column++)
                    relax(row, column);
    }
}

KEPT static void even_parts(uint64_t steps)
{
    uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (int part = 0; part < 240; part++) {
        uint64_t x = part;
        STEPS(x, steps / 240);
        sum += x;
    }
    grid[0][0] += sum;
}

/* `stride` counters are from one thread's to the next one's. */
KEPT static void count_up(volatile uint64_t *counters, int stride, long times)
{
#pragma omp parallel
    {
        volatile uint64_t *mine = counters + stride * omp_get_thread_num();
#pragma omp for schedule(static)
        for (long n = 0; n < times; n++)
            (*mine)++;
    }
}

KEPT static uint64_t alone(uint64_t steps)
{
    uint64_t x = 1;
    STEPS(x, steps);
    return x;
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "control";
    double seconds = seconds_argument(argc, argv, 2, 0.5);
    /* A step takes about 1.5 ns. */
    uint64_t steps = (uint64_t)(seconds / 1.5e-9);
    long sweeps = (long)(steps / (2 * ROWS * COLUMNS)) / SOME * SOME;
    static volatile uint64_t counters[64 * 64] __attribute__((aligned(4096)));
    double begin = wall();
    if (!strcmp(which, "serial"))
        grid[0][0] += alone(steps / 2);
    double opened = wall();
    if (!strcmp(which, "inner"))
        construct_inside(sweeps);
    else if (!strcmp(which, "outer"))
        construct_outside(sweeps);
    else if (!strcmp(which, "sharing"))
        count_up(counters, 1, (long)steps);
    else if (!strcmp(which, "apart"))
        count_up(counters, 64, (long)steps);
    else
        even_parts(!strcmp(which, "serial") ? steps / 2 : steps);
    region_s = wall() - opened;
    printf("{\"case\":\"%s\",\"threads\":%d,\"region_s\":%.6f,\"wall_s\":%.6f,\"sum\":%llu}\n", which,
           omp_get_max_threads(), region_s, wall() - begin, (unsigned long long)(grid[0][0] & 1));
    return 0;
}
