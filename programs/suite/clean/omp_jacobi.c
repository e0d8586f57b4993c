/* Jacobi sweeps over a plate: rows of equal cost (no zeros, whose roots are cheaper), divided evenly, memory
 * touched by who works on it. */
#include <omp.h>

#include "../suite.h"

#define COLUMNS 600

static NOINLINE void clear(double *plate, int rows)
{
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < COLUMNS; column++)
            plate[row * COLUMNS + column] = row == 0 ? 100.0 : 1.0;
}

static NOINLINE void sweep(const double *from, double *to, int rows)
{
#pragma omp parallel for schedule(static)
    for (int row = 1; row < rows - 1; row++)
        for (int column = 1; column < COLUMNS - 1; column++) {
            const double *here = from + row * COLUMNS + column;
            to[row * COLUMNS + column] =
                sqrt(0.25 * (here[-1] * here[-1] + here[1] * here[1] + here[-COLUMNS] * here[-COLUMNS] +
                             here[COLUMNS] * here[COLUMNS]));
        }
}

int main(int argc, char **argv)
{
    int rows = 400 * processors() + 2;
    omp_set_num_threads(threads_asked(argc, argv));
    double *one = malloc(sizeof *one * rows * COLUMNS), *other = malloc(sizeof *other * rows * COLUMNS);
    clear(one, rows);
    clear(other, rows);
    for (int step = 0; step < 1600; step++) {
        sweep(one, other, rows);
        double *swap = one;
        one = other;
        other = swap;
    }
    printf("%.9g\n", one[rows / 4 * COLUMNS + COLUMNS / 2] + one[2 * COLUMNS + 9]);
    free(one);
    free(other);
    return 0;
}
