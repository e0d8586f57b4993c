/* All pairs below the diagonal: row i costs i, and rows are divided evenly by count. */
#include <omp.h>

#include "../suite.h"

static NOINLINE double pairs_of(const double *mass, int row)
{
    double force = 0;
    for (int other = 0; other < row; other++)
        force += mass[row] * mass[other] / sqrt(1.0 + (row - other));
    return force;
}

static NOINLINE double all_pairs(const double *mass, int bodies)
{
    double total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total) /* FAULT: rows cost unequally */
    for (int row = 0; row < bodies; row++)
        total += pairs_of(mass, row);
    return total;
}

int main(int argc, char **argv)
{
    int bodies = 2600 * processors();
    double *mass = malloc(sizeof *mass * bodies), total = 0;
    omp_set_num_threads(threads_asked(argc, argv));
    for (int i = 0; i < bodies; i++)
        mass[i] = 1 + i % 10;
    for (int step = 0; step < 30; step++)
        total += all_pairs(mass, bodies);
    printf("%.3e\n", total);
    free(mass);
    return 0;
}
