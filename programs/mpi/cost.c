/*
 * What calls of MPI take, by the program's own clock: of many blocks of calls the fastest one. Two ranks.
 * cost BLOCKS
 */
#include "../truth.h"

#include <mpi.h>

enum { CALLS = 2000 };

static int rank, number, got, flag;
static MPI_Request request = MPI_REQUEST_NULL, pending;

static void send_nobody(void) { MPI_Send(&number, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD); }

static void receive_nobody(void)
{
    MPI_Recv(&number, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void barrier_alone(void) { MPI_Barrier(MPI_COMM_SELF); }

static void to_itself(void)
{
    MPI_Isend(&number, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    MPI_Recv(&got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void test_in_vain(void) { MPI_Test(&pending, &flag, MPI_STATUS_IGNORE); }

static void ping_pong(void)
{
    if (rank == 0) {
        MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(&got, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
}

static double fastest(void (*call)(void), int blocks)
{
    double least = 1e9;
    for (int block = 0; block < blocks; block++) {
        double begin = wall();
        for (int one = 0; one < CALLS; one++)
            call();
        double passed = (wall() - begin) / CALLS;
        least = passed < least ? passed : least;
    }
    return 1e9 * least;
}

int main(int argc, char **argv)
{
    int blocks = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double both = fastest(ping_pong, blocks);
    if (rank == 0) {
        MPI_Irecv(&got, 1, MPI_INT, 0, 99, MPI_COMM_SELF, &pending);
        printf("{\"program\":\"cost\",\"send_ns\":%.1f,\"receive_ns\":%.1f,\"barrier_ns\":%.1f,"
               "\"isend_receive_wait_ns\":%.1f,\"test_in_vain_ns\":%.1f,\"ping_pong_ns\":%.1f}\n",
               fastest(send_nobody, blocks), fastest(receive_nobody, blocks), fastest(barrier_alone, blocks),
               fastest(to_itself, blocks), fastest(test_in_vain, blocks), both);
        MPI_Send(&number, 1, MPI_INT, 0, 99, MPI_COMM_SELF);
        MPI_Wait(&pending, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
