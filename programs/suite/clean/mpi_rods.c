/* Heat in a bundle of rods: each rank has as many rods, and now and then they agree on the mean. */
#include <mpi.h>

#include "../suite.h"

enum { RODS = 64, CELLS = 4000, ROUNDS = 60, STEPS = 40 };

static double heat[RODS][CELLS], next[CELLS];

static NOINLINE void conduct(double *rod, double outside)
{
    for (int step = 0; step < STEPS; step++) {
        next[0] = rod[0] + 0.2 * (outside - rod[0]);
        for (int cell = 1; cell < CELLS - 1; cell++)
            next[cell] = rod[cell] + 0.2 * (rod[cell - 1] - 2 * rod[cell] + rod[cell + 1])
                         + 1e-6 * sqrt(rod[cell] + 2);
        next[CELLS - 1] = next[CELLS - 2];
        memcpy(rod, next, sizeof next);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks;
    double mean = 0.5;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int mine = RODS / ranks;
    for (int rod = 0; rod < mine; rod++)
        for (int cell = 0; cell < CELLS; cell++)
            heat[rod][cell] = ((rank * mine + rod) * 37 + cell * 11) % 101 * 0.01;
    for (int round = 0; round < ROUNDS; round++) {
        double sum = 0, all;
        for (int rod = 0; rod < mine; rod++) {
            conduct(heat[rod], mean);
            sum += heat[rod][CELLS / 2];
        }
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        mean = all / RODS;
    }
    if (rank == 0)
        printf("%.8f\n", mean);
    MPI_Finalize();
    return 0;
}
