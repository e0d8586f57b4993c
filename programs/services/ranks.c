/*
 * MPI ranks with one thread each: they compute, exchange a number now and then, and end.
 * ranks SECONDS
 */
#include "../truth.h"

#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, rounds = 10;
    double seconds, sum = 0, one = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    seconds = seconds_argument(argc, argv, 1, 0.5);
    for (int round = 0; round < rounds; round++) {
        burn_cpu(seconds / rounds);
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("{\"program\":\"ranks\",\"ranks\":%.0f}\n", sum);
    MPI_Finalize();
    return 0;
}
