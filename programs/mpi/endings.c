/*
 * Processes that use MPI in odd ways, or not at all.
 * endings HOW
 */
#include "../truth.h"

#include <mpi.h>
#include <signal.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int flag = -1, rank = -1, major, minor;
    if (strcmp(how, "never") == 0) {
        MPI_Initialized(&flag);
        MPI_Get_version(&major, &minor);
        burn_cpu(0.05);
        printf("initialized %d version %d.%d\n", flag, major, minor);
        return flag;
    }
    if (strcmp(how, "before") == 0) {
        /* An error, which the library answers. */
        int number = 0;
        printf("before\n");
        fflush(stdout);
        MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        printf("after\n");
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    burn_cpu(0.05);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d %s\n", rank, how);
    fflush(stdout);
    /* The end of one rank may end the other one: that has left the barrier by then. */
    if (rank == 0 || rank == 1) {
        MPI_Send(&rank, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD);
        MPI_Recv(&flag, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(how, "unfinished") == 0)
        return 0;
    if (strcmp(how, "left") == 0)
        _exit(0);
    if (strcmp(how, "abort") == 0) {
        if (rank == 0)
            MPI_Abort(MPI_COMM_WORLD, 7);
        MPI_Recv(&flag, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(how, "killed") == 0) {
        if (rank == 0)
            raise(SIGKILL);
        MPI_Recv(&flag, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(how, "unfreed") == 0) {
        /* Requests that nobody completes. */
        static int numbers[8];
        MPI_Request request;
        for (int one = 0; one < 8; one++)
            MPI_Irecv(&numbers[one], 1, MPI_INT, MPI_ANY_SOURCE, one, MPI_COMM_WORLD, &request);
    }
    MPI_Finalize();
    if (strcmp(how, "after") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
