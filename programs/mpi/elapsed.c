/*
 * What a rank's time in MPI comes to by its own clock, and by proust_elapsed("mpi"): blocking and
 * non-blocking messages, collectives, and computing between them. Each rank prints one line.
 * elapsed SECONDS
 */
#include <mpi.h>
#include "../truth.h"
#include "proust.h"

static double in_mpi;

#define TIMED(call)                                                                                          \
    do {                                                                                                     \
        double since = wall();                                                                               \
        call;                                                                                                \
        in_mpi += wall() - since;                                                                            \
    } while (0)

int main(int argc, char **argv)
{
    double seconds = seconds_argument(argc, argv, 1, 1);
    int rank, value = 1, sum = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double before = proust_elapsed("mpi");
    /* Rank 1 is late at the barrier, rank 0 with its message. */
    if (rank == 1)
        burn_cpu(0.3 * seconds);
    TIMED(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        burn_cpu(0.2 * seconds);
        TIMED(MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD));
    } else {
        TIMED(MPI_Irecv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request));
        burn_cpu(0.05 * seconds);
        TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    for (int n = 0; n < 200; n++)
        TIMED(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    double elapsed = proust_elapsed("mpi") - before;
    printf("{\"rank\":%d,\"own_s\":%.9f,\"elapsed_s\":%.9f}\n", rank, in_mpi, elapsed);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
