/*
 * Wait patterns with programmed delays: in each round of a pattern one rank is late, in one function for all
 * patterns, and others wait for it. Ranks sleep, so that a loaded machine decides nothing. All ranks have one
 * clock: how long each waited is the time from its call to that of the late one. On a loaded machine some
 * also wait at the barriers between rounds, and in other calls in which nobody is late on purpose: the time
 * in these is printed, too.
 * late PATTERN DELAY_SECONDS
 * PATTERN: late-sender, late-receiver, barrier, alltoall, bcast, reduce, waitall, ibarrier, sendrecv, chain,
 * earlier, probed, matched-probe, matched-later; since MPI 4 isendrecv, prepared
 */
#include "../truth.h"

#include <mpi.h>
#include <string.h>

enum { ROUNDS = 4, LARGE = 1 << 20, MOST_RANKS = 16 };

static int rank, ranks;
static double delay_s;
/* In the present round: when this rank began to wait, and when it did what others wait for; 0 = neither. */
static double waits_s, arrives_s;
/* For whom others wait; -1 = each for the rank before it. */
static int late;
/* In calls in which only the machine makes anybody late. */
static double others_s;
static char sent[LARGE], received[LARGE];

/* A macro, so that the time belongs to the function that it is written in. */
#define SLEEP(seconds)                                                                                       \
    do {                                                                                                     \
        double left_s = (seconds);                                                                           \
        struct timespec time = {(time_t)left_s, (long)(1e9 * (left_s - (double)(time_t)left_s))};            \
        nanosleep(&time, NULL);                                                                              \
    } while (0)

/* The late one of a round does this. */
KEPT static void dawdle(void) { SLEEP(delay_s); }

/* All ranks do this: it makes nobody late. */
KEPT static void work_as_all_do(void) { SLEEP(0.25 * delay_s); }

/* What a function calls last must not take its place on the stack. */
#define STAY __asm__ volatile("")

/* A call in which this rank waits for the late one. */
#define WAITS(call)                                                                                          \
    do {                                                                                                     \
        waits_s = wall();                                                                                    \
        call;                                                                                                \
        STAY;                                                                                                \
    } while (0)

/* A call that others wait for. */
#define ARRIVES(call)                                                                                        \
    do {                                                                                                     \
        arrives_s = wall();                                                                                  \
        call;                                                                                                \
        STAY;                                                                                                \
    } while (0)

/* A call in which nobody is late on purpose. */
#define MEETS(call)                                                                                          \
    do {                                                                                                     \
        double since_s = wall();                                                                             \
        call;                                                                                                \
        others_s += wall() - since_s;                                                                        \
    } while (0)

KEPT static void late_sender(void)
{
    if (rank == 0) {
        dawdle();
        ARRIVES(MPI_Send(sent, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD));
    } else if (rank == 1) {
        WAITS(MPI_Recv(received, 8, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
    }
}

KEPT static void late_receiver(void)
{
    if (rank == 0) {
        WAITS(MPI_Ssend(sent, LARGE, MPI_CHAR, 1, 2, MPI_COMM_WORLD));
    } else if (rank == 1) {
        dawdle();
        ARRIVES(MPI_Recv(received, LARGE, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

KEPT static void barrier(void)
{
    if (rank == ranks - 1) {
        dawdle();
        ARRIVES(MPI_Barrier(MPI_COMM_WORLD));
    } else {
        WAITS(MPI_Barrier(MPI_COMM_WORLD));
    }
}

KEPT static void alltoall(void)
{
    if (rank == 1) {
        dawdle();
        ARRIVES(MPI_Alltoall(sent, 8, MPI_CHAR, received, 8, MPI_CHAR, MPI_COMM_WORLD));
    } else {
        WAITS(MPI_Alltoall(sent, 8, MPI_CHAR, received, 8, MPI_CHAR, MPI_COMM_WORLD));
    }
}

KEPT static void bcast(void)
{
    if (rank == 1) {
        dawdle();
        ARRIVES(MPI_Bcast(sent, 8, MPI_CHAR, 1, MPI_COMM_WORLD));
    } else {
        WAITS(MPI_Bcast(received, 8, MPI_CHAR, 1, MPI_COMM_WORLD));
    }
}

KEPT static void reduce(void)
{
    int one = 1, sum = 0;
    if (rank == 0) {
        WAITS(MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    } else {
        if (rank == ranks - 1)
            dawdle();
        ARRIVES(MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    }
}

/* The receive is started before; what is waited for is less by what is done meanwhile. */
KEPT static void waitall(void)
{
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Irecv(received, 8, MPI_CHAR, 1, 4, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, 8, MPI_CHAR, 1, 3, MPI_COMM_WORLD, &requests[1]);
        SLEEP(0.5 * delay_s);
        WAITS(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    } else if (rank == 1) {
        MPI_Irecv(received, 8, MPI_CHAR, 0, 3, MPI_COMM_WORLD, &requests[0]);
        dawdle();
        ARRIVES(MPI_Isend(sent, 8, MPI_CHAR, 0, 4, MPI_COMM_WORLD, &requests[1]));
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

KEPT static void ibarrier(void)
{
    MPI_Request request;
    if (rank == 0)
        dawdle();
    ARRIVES(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    if (rank == 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
        WAITS(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

KEPT static void sendrecv(void)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    if (ranks > 2 && rank > 1)
        return;
    if (ranks > 2)
        next = before = 1 - rank;
    if (rank == 0) {
        dawdle();
        ARRIVES(MPI_Sendrecv(sent, 8, MPI_CHAR, next, 5, received, 8, MPI_CHAR, before, 5, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE));
    } else {
        WAITS(MPI_Sendrecv(sent, 8, MPI_CHAR, next, 5, received, 8, MPI_CHAR, before, 5, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE));
    }
}

/* Each rank waits for the one before it, and all of them for the first. */
KEPT static void chain(void)
{
    if (rank == 0)
        dawdle();
    else
        WAITS(MPI_Recv(received, 8, MPI_CHAR, rank - 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank + 1 < ranks)
        ARRIVES(MPI_Send(sent, 8, MPI_CHAR, rank + 1, 6, MPI_COMM_WORLD));
}

#if MPI_VERSION >= 4
KEPT static void isendrecv(void)
{
    MPI_Request request;
    if (rank == 0) {
        dawdle();
        ARRIVES(MPI_Isendrecv(sent, 8, MPI_CHAR, 1, 8, received, 16, MPI_CHAR, 1, 9, MPI_COMM_WORLD,
                              &request));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Isendrecv(sent, 8, MPI_CHAR, 0, 9, received, 16, MPI_CHAR, 0, 8, MPI_COMM_WORLD, &request);
        WAITS(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    /* Each with itself. With nobody MPICH 4.0 crashes in it, and of any source it does not say which. */
    MPI_Isendrecv_replace(received, 4, MPI_CHAR, rank, 9, rank, 9, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A function of its own: its waits are the machine's. */
KEPT static void all_start(MPI_Request *requests)
{
    MEETS(MPI_Startall(2, requests));
    MEETS(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

/* Each is started twice; the second time, all come together. */
KEPT static void prepared(void)
{
    MPI_Request requests[2];
    int one = 1, sum = 0;
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Bcast_init(sent, 8, MPI_CHAR, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    if (rank == 0)
        dawdle();
    ARRIVES(MPI_Start(&requests[0]));
    if (rank == 0)
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    else
        WAITS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    all_start(requests);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}
#endif

/* In which nobody is late. */
KEPT static void iterations(void)
{
    for (int round = 0; round < 2; round++) {
        work_as_all_do();
        if (rank == 0)
            MPI_Send(sent, 8, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
        else if (rank == 1)
            MEETS(MPI_Recv(received, 8, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

/* Rank 1 waits at once, rank 2 notices only some iterations later. */
KEPT static void earlier(void)
{
    if (rank == 0) {
        dawdle();
        ARRIVES(MPI_Send(sent, 8, MPI_CHAR, 1, 6, MPI_COMM_WORLD));
    } else if (rank == 1) {
        WAITS(MPI_Recv(received, 8, MPI_CHAR, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    iterations();
    if (rank == 1)
        ARRIVES(MPI_Send(sent, 8, MPI_CHAR, 2, 6, MPI_COMM_WORLD));
    else if (rank == 2)
        WAITS(MPI_Recv(received, 8, MPI_CHAR, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Who waits is the probe, not the receive behind it. */
KEPT static void probed(void)
{
    if (rank == 0) {
        dawdle();
        ARRIVES(MPI_Send(sent, 8, MPI_CHAR, 1, 7, MPI_COMM_WORLD));
    } else if (rank == 1) {
        MPI_Status status;
        WAITS(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        MPI_Recv(received, 8, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* As mpi4py receives objects. */
KEPT static void matched_probe(void)
{
    if (rank == 0) {
        dawdle();
        ARRIVES(MPI_Send(sent, 8, MPI_CHAR, 1, 8, MPI_COMM_WORLD));
    } else if (rank == 1) {
        MPI_Message message;
        WAITS(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
        MPI_Mrecv(received, 8, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    }
}

KEPT static void matched_later(void)
{
    if (rank == 0) {
        dawdle();
        ARRIVES(MPI_Send(sent, 8, MPI_CHAR, 1, 9, MPI_COMM_WORLD));
    } else if (rank == 1) {
        MPI_Message message;
        MPI_Request request;
        WAITS(MPI_Mprobe(0, 9, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
        MPI_Imrecv(received, 8, MPI_CHAR, &message, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
    /* -2 = the last rank. */
    int late;
} patterns[] = {
    {"late-sender", late_sender, 0}, {"late-receiver", late_receiver, 1}, {"barrier", barrier, -2},
    {"alltoall", alltoall, 1},       {"bcast", bcast, 1},                 {"reduce", reduce, -2},
    {"waitall", waitall, 1},         {"ibarrier", ibarrier, 0},           {"sendrecv", sendrecv, 0},
    {"chain", chain, -1},
    {"earlier", earlier, -1},
    {"probed", probed, 0},
    {"matched-probe", matched_probe, 0},
    {"matched-later", matched_later, 0},
#if MPI_VERSION >= 4
    {"isendrecv", isendrecv, 0},     {"prepared", prepared, 0},
#endif
};

int main(int argc, char **argv)
{
    void (*run)(void) = NULL;
    const char *wanted = argc > 1 ? argv[1] : "late-sender";
    double own[2], all[2 * MOST_RANKS], sums_s[MOST_RANKS] = {0};
    double sum_s = 0, all_others_s;
    delay_s = seconds_argument(argc, argv, 2, 0.2);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t at = 0; at < sizeof patterns / sizeof *patterns; at++)
        if (strcmp(patterns[at].name, wanted) == 0) {
            run = patterns[at].run;
            late = patterns[at].late == -2 ? ranks - 1 : patterns[at].late;
        }
    if (run == NULL && (strcmp(wanted, "isendrecv") == 0 || strcmp(wanted, "prepared") == 0)) {
        if (rank == 0)
            printf("{\"program\":\"late\",\"lacks\":\"%s\"}\n", wanted);
        MPI_Finalize();
        return 0;
    }
    if (run == NULL || ranks > MOST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int round = 0; round < ROUNDS; round++) {
        /* Begins at one instant for all, but for what the machine does. */
        MEETS(MPI_Barrier(MPI_COMM_WORLD));
        work_as_all_do();
        waits_s = arrives_s = 0;
        run();
        own[0] = waits_s, own[1] = arrives_s;
        /* All arrive here at once. */
        MEETS(MPI_Barrier(MPI_COMM_WORLD));
        MEETS(MPI_Gather(own, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD));
        for (int one = 0; rank == 0 && one < ranks; one++) {
            double arrived_s = all[2 * (late < 0 ? one - 1 : late) + 1];
            if (all[2 * one] > 0 && arrived_s > all[2 * one])
                sums_s[one] += arrived_s - all[2 * one];
        }
    }
    MPI_Reduce(&others_s, &all_others_s, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("{\"program\":\"late\",\"pattern\":\"%s\",\"delay_s\":%.6f,", wanted, delay_s);
        printf("\"others_s\":%.6f,\"waited_s\":[", all_others_s);
        for (int one = 0; one < ranks; one++) {
            printf("%s%.6f", one ? "," : "", sums_s[one]);
            sum_s += sums_s[one];
        }
        printf("],\"all_s\":%.6f}\n", sum_s);
    }
    MPI_Finalize();
    return 0;
}
