/* Two models are coupled: the ocean sends its surface and then its diagnostics, the air needs both.
   Its fault: the air asks for the diagnostics first, which come late, and works on the surface after that. */
#include <mpi.h>

#include "../suite.h"

enum { CELLS = 256, STEPS = 90, SURFACE = 1, DIAGNOSTICS = 2 };

static double surface[CELLS], diagnostics[CELLS];

static NOINLINE void warm(double *values, int rounds)
{
    for (int cell = 0; cell < CELLS; cell++)
        values[cell] = refine(values[cell] + cell % 7, rounds);
}

static NOINLINE double run_ocean(int partner)
{
    for (int step = 0; step < STEPS; step++) {
        MPI_Send(surface, CELLS, MPI_DOUBLE, partner, SURFACE, MPI_COMM_WORLD);
        warm(diagnostics, 5600);
        MPI_Send(diagnostics, CELLS, MPI_DOUBLE, partner, DIAGNOSTICS, MPI_COMM_WORLD);
        MPI_Recv(surface, CELLS, MPI_DOUBLE, partner, SURFACE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return surface[CELLS / 2];
}

static NOINLINE double run_air(int partner)
{
    double kept = 0;
    for (int step = 0; step < STEPS; step++) {
        /* FAULT: waits for what comes last, though the surface is there and has to be worked on */
        MPI_Recv(diagnostics, CELLS, MPI_DOUBLE, partner, DIAGNOSTICS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(surface, CELLS, MPI_DOUBLE, partner, SURFACE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        warm(surface, 5300);
        kept += diagnostics[step];
        MPI_Send(surface, CELLS, MPI_DOUBLE, partner, SURFACE, MPI_COMM_WORLD);
    }
    return kept;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double own = rank == 0 ? run_ocean(1) : rank == 1 ? run_air(0) : 0, total = 0;
    MPI_Reduce(&own, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.9f of %d ranks\n", total, size);
    MPI_Finalize();
    return 0;
}
