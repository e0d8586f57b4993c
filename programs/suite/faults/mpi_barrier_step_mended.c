/* As mpi_barrier_step.c, but ranks meet only at the end of a year, when they have something to exchange. */
#include <mpi.h>

#include "../suite.h"

enum { YEARS = 4, DAYS = 80, QUIET = 60000, BUSY = 900000 };

/* Every second day is market day, and each rank has its own. */
static NOINLINE double live_through(double wealth, int day, int rank)
{
    return refine(wealth, (day + rank) % 2 ? BUSY : QUIET);
}

static NOINLINE double live_a_year(double wealth, int rank)
{
    for (int day = 0; day < DAYS; day++) {
        wealth = live_through(wealth, day, rank);
    }
    return wealth;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double wealth = rank + 1, total = 0;
    for (int year = 0; year < YEARS; year++) {
        wealth = live_a_year(wealth, rank);
        MPI_Allreduce(&wealth, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        wealth = 0.9 * wealth + 0.1 * total;
    }
    if (rank == 0)
        printf("wealth %.9f\n", total);
    MPI_Finalize();
    return 0;
}
