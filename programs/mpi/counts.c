/*
 * Two ranks that count what they do with MPI: messages that are sent and received, and completed, with the
 * bytes that they really had; collectives with what a rank gives to them; other calls; and how long all of
 * that took. Messages to nobody, receives that are cancelled and requests that are never completed are no
 * messages.
 * counts [ROUNDS]
 */
#include "../truth.h"

#include <mpi.h>

enum { VALUES = 100, FEW = 7 };

static int rank, other;
static double mpi_s;
static long sends, receives, sent_bytes, received_bytes, collectives, collective_bytes, other_calls;
static double out[VALUES], in[VALUES];

#define TIMED(call)                                                                                          \
    do {                                                                                                     \
        double since_s = wall();                                                                             \
        call;                                                                                                \
        mpi_s += wall() - since_s;                                                                           \
    } while (0)
#define OTHER(call)                                                                                          \
    do {                                                                                                     \
        other_calls++;                                                                                       \
        TIMED(call);                                                                                         \
    } while (0)
#define HAS_SENT(values) (sends++, sent_bytes += (long)((values) * sizeof(double)))
#define HAS_RECEIVED(values) (receives++, received_bytes += (long)((values) * sizeof(double)))
#define HAS_GIVEN(values) (collectives++, collective_bytes += (long)((values) * sizeof(double)))

KEPT static void blocking(void)
{
    if (rank == 0) {
        TIMED(MPI_Send(out, FEW, MPI_DOUBLE, other, 1, MPI_COMM_WORLD));
        HAS_SENT(FEW);
        TIMED(MPI_Recv(in, VALUES, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
        HAS_RECEIVED(1);
    } else {
        /* There is more room than there are values. */
        TIMED(MPI_Recv(in, VALUES, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        HAS_RECEIVED(FEW);
        TIMED(MPI_Send(out, 1, MPI_DOUBLE, other, 2, MPI_COMM_WORLD));
        HAS_SENT(1);
    }
    TIMED(MPI_Sendrecv(out, 3 + rank, MPI_DOUBLE, other, 3, in, VALUES, MPI_DOUBLE, other, 3, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
    HAS_SENT(3 + rank);
    HAS_RECEIVED(3 + other);
    /* A message without values is a message; one to nobody is none. */
    TIMED(MPI_Sendrecv(out, 0, MPI_DOUBLE, other, 3, in, VALUES, MPI_DOUBLE, other, 3, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
    HAS_SENT(0);
    HAS_RECEIVED(0);
    TIMED(MPI_Send(out, FEW, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    TIMED(MPI_Recv(in, FEW, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

KEPT static void started(void)
{
    MPI_Request requests[3];
    TIMED(MPI_Irecv(in, VALUES, MPI_DOUBLE, other, 4, MPI_COMM_WORLD, &requests[0]));
    TIMED(MPI_Isend(out, FEW, MPI_DOUBLE, other, 4, MPI_COMM_WORLD, &requests[1]));
    OTHER(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    HAS_RECEIVED(FEW);
    HAS_SENT(FEW);
    /* Nobody sends under this tag. */
    TIMED(MPI_Irecv(in, VALUES, MPI_DOUBLE, other, 99, MPI_COMM_WORLD, &requests[2]));
    OTHER(MPI_Cancel(&requests[2]));
    OTHER(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
}

KEPT static void persistent(void)
{
    MPI_Request requests[2];
    OTHER(MPI_Recv_init(in, VALUES, MPI_DOUBLE, other, 5, MPI_COMM_WORLD, &requests[0]));
    OTHER(MPI_Send_init(out, FEW, MPI_DOUBLE, other, 5, MPI_COMM_WORLD, &requests[1]));
    for (int i = 0; i < 3; i++) {
        OTHER(MPI_Startall(2, requests));
        OTHER(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        HAS_RECEIVED(FEW);
        HAS_SENT(FEW);
    }
    OTHER(MPI_Request_free(&requests[0]));
    OTHER(MPI_Request_free(&requests[1]));
}

KEPT static void all_together(void)
{
    MPI_Request request;
    TIMED(MPI_Allreduce(out, in, FEW, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    HAS_GIVEN(FEW);
    TIMED(MPI_Allgather(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, MPI_COMM_WORLD));
    HAS_GIVEN(2);
    TIMED(MPI_Barrier(MPI_COMM_WORLD));
    HAS_GIVEN(0);
    TIMED(MPI_Iallreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
    HAS_GIVEN(1);
    OTHER(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

#if MPI_VERSION >= 4
/* What is only prepared is none; each start is one. */
KEPT static void prepared(void)
{
    MPI_Request requests[3];
    OTHER(MPI_Allreduce_init(out, in, FEW, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    OTHER(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    OTHER(MPI_Recv_init(in, VALUES, MPI_DOUBLE, MPI_PROC_NULL, 6, MPI_COMM_WORLD, &requests[2]));
    OTHER(MPI_Start(&requests[0]));
    HAS_GIVEN(FEW);
    OTHER(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    for (int i = 0; i < 3; i++) {
        OTHER(MPI_Startall(3, requests));
        HAS_GIVEN(FEW);
        HAS_GIVEN(0);
        OTHER(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < 3; i++)
        OTHER(MPI_Request_free(&requests[i]));
}
#endif

static void print(void)
{
    printf("{\"program\":\"counts\",\"rank\":%d,\"mpi_s\":%.6f,\"mpi_sends\":%ld,\"mpi_receives\":%ld,"
           "\"mpi_sent_bytes\":%ld,\"mpi_received_bytes\":%ld,\"mpi_collectives\":%ld,"
           "\"mpi_collective_bytes\":%ld,\"mpi_other_calls\":%ld}\n",
           rank, mpi_s, sends, receives, sent_bytes, received_bytes, collectives, collective_bytes,
           other_calls);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    for (int round = 0; round < rounds; round++) {
        blocking();
        started();
        persistent();
        all_together();
#if MPI_VERSION >= 4
        prepared();
#endif
    }
    OTHER(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    OTHER(MPI_Comm_free(&copy));
    print();
    MPI_Finalize();
    return 0;
}
