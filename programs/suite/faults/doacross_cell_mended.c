/* As doacross_cell.c, but rows wait for each other once for 256 cells. */
#include <omp.h>

#include "../suite.h"

enum { ROWS = 1200, COLUMNS = 3072, SWEEPS = 16, PART = 256 };

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
        for (int part = 0; part < COLUMNS / PART; part++) {
#pragma omp ordered depend(sink : row - 1, part)
            for (int column = part * PART + 1; column <= (part + 1) * PART; column++)
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
