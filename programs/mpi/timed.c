/*
 * Programmed waits, which the program times itself: the sum of the wall time in each function of MPI, and of
 * the computation between. Rank 1 always waits for rank 0.
 * timed SECONDS
 */
#include "../truth.h"

#include <mpi.h>

enum { ROUNDS = 5, ASLEEP_US = 5000 };

static int rank;
static double late_s;

/* The late one computes, or sleeps; the other waits. */
static void be_late(void)
{
    if (rank == 0)
        burn_cpu(late_s);
}

static double since(double *begin)
{
    double now = wall(), passed = now - *begin;
    *begin = now;
    return passed;
}

int main(int argc, char **argv)
{
    double receive = 0, barrier = 0, reduce = 0, wait = 0, test = 0, asleep = 0, work = 0, begin;
    int number = 0, sum, flag;
    MPI_Request request;
    late_s = seconds_argument(argc, argv, 1, 1.0) / (5 * ROUNDS);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    begin = wall();
    MPI_Barrier(MPI_COMM_WORLD);
    barrier += since(&begin);
    double cpu = thread_cpu();
    for (int round = 0; round < ROUNDS; round++) {
        be_late();
        begin = wall();
        if (rank == 0)
            MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        receive += since(&begin);
        be_late();
        begin = wall();
        MPI_Barrier(MPI_COMM_WORLD);
        barrier += since(&begin);
        be_late();
        begin = wall();
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        reduce += since(&begin);
        /* Half of the wait is behind computation of its own. */
        if (rank == 1)
            MPI_Irecv(&number, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &request);
        be_late();
        if (rank == 0)
            MPI_Isend(&number, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
        else
            burn_cpu(late_s / 2);
        begin = wall();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wait += since(&begin);
        if (rank == 1)
            MPI_Irecv(&number, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
        be_late();
        if (rank == 0)
            MPI_Isend(&number, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
        begin = wall();
        do
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        while (!flag);
        test += since(&begin);
        begin = wall();
        usleep(ASLEEP_US);
        asleep += since(&begin);
    }
    work = thread_cpu() - cpu;
    double own[7] = {receive, barrier, reduce, wait, test, asleep, work}, all[14];
    MPI_Gather(own, 7, MPI_DOUBLE, all, 7, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("{\"program\":\"timed\",\"ranks\":[");
        for (int one = 0; one < 2; one++) {
            double *of = &all[7 * one];
            printf("%s{\"%s\":%.6f,\"MPI_Barrier\":%.6f,\"MPI_Allreduce\":%.6f,\"MPI_Wait\":%.6f,"
                   "\"MPI_Test\":%.6f,\"asleep\":%.6f,\"cpu\":%.6f}",
                   one ? "," : "", one ? "MPI_Recv" : "MPI_Send", of[0], of[1], of[2], of[3], of[4], of[5],
                   of[6]);
        }
        printf("],\"late_s\":%.6f,\"rounds\":%d,\"asked_s\":%.6f}\n", late_s, ROUNDS,
               1e-6 * ROUNDS * ASLEEP_US);
    }
    MPI_Finalize();
    return 0;
}
