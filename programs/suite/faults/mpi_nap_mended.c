/* A flow is computed by one rank, and another finds the forces on a wing from each of its snapshots. */
#include <mpi.h>

#include "../suite.h"

enum { CELLS = 400, STEPS = 130, FLOW = 1, FORCES = 2 };

static double flow[CELLS], inner[CELLS], forces[CELLS];

static NOINLINE void solve(double *values, int rounds)
{
    for (int cell = 0; cell < CELLS; cell++)
        values[cell] = refine(values[cell] + cell % 5, rounds);
}

static NOINLINE double run_flow(int partner)
{
    double work = 0;
    for (int step = 0; step < STEPS; step++) {
        solve(flow, 1500);
        MPI_Send(flow, CELLS, MPI_DOUBLE, partner, FLOW, MPI_COMM_WORLD);
        solve(inner, 2000);
        MPI_Recv(forces, CELLS, MPI_DOUBLE, partner, FORCES, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int cell = 0; cell < CELLS; cell++)
            work += forces[cell] * inner[cell] / CELLS;
    }
    return work;
}

static NOINLINE double run_forces(int partner)
{
    for (int step = 0; step < STEPS; step++) {
        MPI_Recv(flow, CELLS, MPI_DOUBLE, partner, FLOW, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        memcpy(forces, flow, sizeof forces);
        solve(forces, 1900);
        MPI_Send(forces, CELLS, MPI_DOUBLE, partner, FORCES, MPI_COMM_WORLD);
    }
    return forces[CELLS / 2];
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double own = rank == 0 ? run_flow(1) : rank == 1 ? run_forces(0) : 0, total = 0;
    MPI_Reduce(&own, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.6f of %d ranks\n", total, size);
    MPI_Finalize();
    return 0;
}
