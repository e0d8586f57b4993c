/* Sand is blown over dunes: grains fly, and then the slopes are smoothed where they are too steep. */
#include <omp.h>

#include "../suite.h"

enum { CELLS = 24000, STEPS = 320 };

static double height[CELLS], smoothed[CELLS];

/* Also used where no team is at work yet, so that it brings its own. */
static NOINLINE void smooth(double *to, const double *from, int threads)
{
#pragma omp parallel for num_threads(threads)
    for (int cell = 0; cell < CELLS; cell++) {
        double before = from[(cell + CELLS - 1) % CELLS], after = from[(cell + 1) % CELLS];
        to[cell] = refine(0.5 * from[cell] + 0.25 * (before + after), 30);
    }
}

static NOINLINE double fly(int cell, int step)
{
    return refine(smoothed[cell] + (cell * 7 + step * 13) % 11 * 0.1, 16);
}

static NOINLINE void blow(int threads)
{
#pragma omp parallel num_threads(threads)
    for (int step = 0; step < STEPS; step++) {
#pragma omp for schedule(static)
        for (int cell = 0; cell < CELLS; cell++)
            height[cell] = fly(cell, step);
/* FAULT: within a region the loop of smooth() gets a team of one thread, and all others wait for it here */
#pragma omp single
        smooth(smoothed, height, threads);
    }
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    uint64_t state = 88172645463325252;
    for (int cell = 0; cell < CELLS; cell++)
        height[cell] = (double)(next_random(&state) % 1000) / 100;
    smooth(smoothed, height, threads);
    blow(threads);
    double total = 0;
    for (int cell = 0; cell < CELLS; cell++)
        total += smoothed[cell];
    printf("%.6f\n", total);
    return 0;
}
