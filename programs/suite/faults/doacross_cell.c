/* Heights of a terrain are smoothed in place, row after row: a row may follow the one above at some distance.
   Its fault: rows wait for each other at each cell instead of once for many cells. */
#include <omp.h>

#include "../suite.h"

enum { ROWS = 1200, COLUMNS = 3072, SWEEPS = 16 };

static double height[ROWS + 1][COLUMNS + 2];

static void make_terrain(void)
{
    uint64_t state = 88172645463325252;
    for (int row = 0; row <= ROWS; row++)
        for (int column = 0; column < COLUMNS + 2; column++)
            height[row][column] = (double)(next_random(&state) % 4000);
}

static inline double smooth(int row, int column)
{
    double around = height[row - 1][column] + height[row][column - 1] + height[row - 1][column - 1];
    return sqrt(0.4 * height[row][column] * height[row][column] + 0.2 * around * around / 3 + 1);
}

static NOINLINE void sweep(int threads)
{
#pragma omp parallel for ordered(2) schedule(static, 1) num_threads(threads)
    for (int row = 1; row <= ROWS; row++)
        for (int column = 1; column <= COLUMNS; column++) {
#pragma omp ordered depend(sink : row - 1, column) /* FAULT: waits for the row above at each cell */
            height[row][column] = smooth(row, column);
#pragma omp ordered depend(source)
        }
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    make_terrain();
    for (int number = 0; number < SWEEPS; number++)
        sweep(threads);
    double sum = 0;
    for (int row = 1; row <= ROWS; row++)
        sum += height[row][row];
    printf("%.6f\n", sum / ROWS);
    return 0;
}
