/*
 * Marks that are wrong, or not the same on all ranks: an interval of one rank, one that ranks execute
 * unequally often, one that a rank leaves open, and one in which a rank is killed.
 * intervals uneven|killed
 */
#include "../truth.h"

#include "proust.h"

#include <mpi.h>
#include <signal.h>
#include <string.h>

enum { PAUSE_US = 30000 };

int main(int argc, char **argv)
{
    int rank, ranks;
    const int is_killed = argc > 1 && strcmp(argv[1], "killed") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    proust_begin("all", PROUST_NO_NUMBER);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_killed) {
        proust_begin("last", PROUST_NO_NUMBER);
        usleep(PAUSE_US);
        if (rank == ranks - 1)
            raise(SIGKILL);
        MPI_Barrier(MPI_COMM_WORLD);
        proust_end("last", PROUST_NO_NUMBER);
    }
    if (rank == 0) {
        proust_begin("of_one", PROUST_NO_NUMBER);
        usleep(PAUSE_US);
        proust_end("of_one", PROUST_NO_NUMBER);
    }
    for (int n = 0; n <= rank; n++) {
        proust_begin("often", PROUST_NO_NUMBER);
        usleep(PAUSE_US);
        proust_end("often", PROUST_NO_NUMBER);
    }
    proust_begin("open", PROUST_NO_NUMBER);
    usleep(PAUSE_US);
    if (rank == 0)
        proust_end("open", PROUST_NO_NUMBER);
    proust_end("all", PROUST_NO_NUMBER);
    MPI_Finalize();
    return 0;
}
