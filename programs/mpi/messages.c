/* Blocking messages, probes, and messages of several threads. */
#include "cases.h"

#include <pthread.h>

static void all_modes(void)
{
    int (*const senders[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {MPI_Send, MPI_Ssend,
                                                                                   PMPI_Send, PMPI_Ssend};
    int number = 0;
    MPI_Status status = {0};
    for (int mode = 0; mode < 4; mode++) {
        number = 100 * rank + mode;
        if (rank == 0) {
            say("send %d", senders[mode](&number, 1, MPI_INT, 1, 7 + mode, MPI_COMM_WORLD));
        } else {
            status.MPI_ERROR = 1234;
            say("receive %d", MPI_Recv(&number, 1, MPI_INT, 0, 7 + mode, MPI_COMM_WORLD, &status));
            say_status("received", &status);
            CHECK(number == mode);
        }
    }
    /* The receive is posted before a ready send starts. */
    MPI_Request request;
    if (rank == 1)
        MPI_Irecv(&number, 1, MPI_INT, 0, 20, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        number = 77;
        say("ready send %d", MPI_Rsend(&number, 1, MPI_INT, 1, 20, MPI_COMM_WORLD));
    } else {
        say("wait %d", MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(number == 77 && request == MPI_REQUEST_NULL);
    }
    static char buffer[4096];
    char *detached = NULL;
    int bytes = 0;
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Bsend(&rank, 1, MPI_INT, partner, 21, MPI_COMM_WORLD);
    MPI_Recv(&number, 1, MPI_INT, partner, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(number == partner);
    MPI_Buffer_detach(&detached, &bytes);
    CHECK(detached == buffer && bytes == sizeof buffer);
}

static void wildcards_and_nobody(void)
{
    MPI_Status status = {0};
    long words[200] = {0};
    for (int count = 0; count <= 200; count += 100) {
        if (rank == 0) {
            words[0] = count;
            MPI_Send(words, count, MPI_LONG, 1, 1000 + count, MPI_COMM_WORLD);
        } else {
            int elements = -1;
            status.MPI_ERROR = 4321;
            say("any %d",
                MPI_Recv(words, 200, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            say_status("any", &status);
            MPI_Get_elements(&status, MPI_LONG, &elements);
            CHECK(elements == count && status.MPI_SOURCE == 0 && status.MPI_TAG == 1000 + count);
        }
    }
    if (rank == 0) {
        MPI_Send(words, 3, MPI_LONG, 1, 5, MPI_COMM_WORLD);
    } else {
        say("ignored %d", MPI_Recv(words, 200, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                                   MPI_STATUS_IGNORE));
    }
    CHECK(MPI_Send(words, 1, MPI_LONG, MPI_PROC_NULL, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
    MPI_Recv(words, 1, MPI_LONG, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    /* To itself. */
    MPI_Request request;
    MPI_Isend(&rank, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == rank && status.MPI_SOURCE == 0);
}

static void both_ways(void)
{
    int sent[4] = {rank, rank + 10, rank + 20, rank + 30}, got[8] = {0};
    MPI_Status status = {0};
    say("sendrecv %d", MPI_Sendrecv(sent, 4, MPI_INT, partner, rank, got, 8, MPI_INT, partner, partner,
                                    MPI_COMM_WORLD, &status));
    say_status("sendrecv", &status);
    CHECK(got[3] == partner + 30);
    MPI_Sendrecv(sent, 2, MPI_INT, partner, 4, got, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    say("replace %d",
        MPI_Sendrecv_replace(sent, 4, MPI_INT, partner, 9, partner, 9, MPI_COMM_WORLD, &status));
    say_status("replace", &status);
    CHECK(sent[0] == partner);
    /* The ends of a chain. */
    MPI_Sendrecv(&rank, 1, MPI_INT, rank == 0 ? 1 : MPI_PROC_NULL, 2, got, 1, MPI_INT,
                 rank == 1 ? 0 : MPI_PROC_NULL, 2, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == (rank == 1 ? 0 : MPI_PROC_NULL));
}

static void probes(void)
{
    int numbers[10] = {1, 2, 3}, flag = -1;
    MPI_Status status = {0};
    MPI_Message message;
    MPI_Request request;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &status);
    CHECK(flag == 0);
    MPI_Improbe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &message, &status);
    CHECK(flag == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        for (int tag = 30; tag < 36; tag++)
            MPI_Send(numbers, tag - 29, MPI_INT, 1, tag, MPI_COMM_WORLD);
        return;
    }
    say("probe %d", MPI_Probe(MPI_ANY_SOURCE, 30, MPI_COMM_WORLD, &status));
    say_status("probed", &status);
    MPI_Recv(numbers, 10, MPI_INT, 0, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    do
        MPI_Iprobe(0, 31, MPI_COMM_WORLD, &flag, &status);
    while (!flag);
    say_status("iprobed", &status);
    MPI_Recv(numbers, 10, MPI_INT, 0, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("mprobe %d", MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status));
    say_status("mprobed", &status);
    say("mrecv %d", MPI_Mrecv(numbers, 10, MPI_INT, &message, &status));
    say_status("mreceived", &status);
    CHECK(message == MPI_MESSAGE_NULL);
    do
        MPI_Improbe(0, 33, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    while (!flag);
    say("imrecv %d", MPI_Imrecv(numbers, 10, MPI_INT, &message, &request));
    MPI_Wait(&request, &status);
    say_status("imreceived", &status);
    MPI_Mprobe(0, 34, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(numbers, 10, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_PROC_NULL, 34, MPI_COMM_WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Mrecv(numbers, 10, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Recv(numbers, 10, MPI_INT, 0, 35, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_TAG == 35);
}

void blocking_messages(void)
{
    say("messages");
    all_modes();
    wildcards_and_nobody();
    both_ways();
    probes();
}

enum { THREADS = 3, ROUNDS = 200 };

static void *exchange(void *communicator)
{
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int got = -1, sent = round;
        MPI_Request pair[2];
        MPI_Irecv(&got, 1, MPI_INT, partner, round, *(MPI_Comm *)communicator, &pair[0]);
        MPI_Isend(&sent, 1, MPI_INT, partner, round, *(MPI_Comm *)communicator, &pair[1]);
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
        sum += got;
    }
    return (void *)sum;
}

void threads(int provided)
{
    say("threads");
    int is_main = -1;
    MPI_Is_thread_main(&is_main);
    CHECK(is_main == 1);
    if (provided != MPI_THREAD_MULTIPLE)
        return;
    MPI_Comm communicators[THREADS];
    pthread_t started[THREADS];
    for (int one = 0; one < THREADS; one++)
        MPI_Comm_dup(MPI_COMM_WORLD, &communicators[one]);
    for (int one = 0; one < THREADS; one++)
        pthread_create(&started[one], NULL, exchange, &communicators[one]);
    for (int one = 0; one < THREADS; one++) {
        void *sum = NULL;
        pthread_join(started[one], &sum);
        CHECK((long)sum == ROUNDS * (ROUNDS - 1) / 2);
        MPI_Comm_free(&communicators[one]);
        CHECK(communicators[one] == MPI_COMM_NULL);
    }
}
