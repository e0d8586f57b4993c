/*
 * Intervals that ranks mark by messages to themselves, and by MPI_Pcontrol. Each rank times them by its own
 * clock; rank 0 prints the sums. Without a tool that answers the messages, MPI refuses their tags.
 * marks SECONDS
 */
#include <mpi.h>
#include <string.h>
#include "../truth.h"
#include "proust.h"

#define BEGIN_OF(id) ((int)(0xaa0000aau | (unsigned)(id) << 8))
#define END_OF(id) ((int)(0xaa0000bbu | (unsigned)(id) << 8))
#define MOST 16

static struct {
    const char *name;
    double began, time, executions;
} intervals[MOST];
static int rank, wrong;

#define CHECK(holds)                                                                                         \
    do {                                                                                                     \
        if (!(holds)) {                                                                                      \
            printf("WRONG line %d: %s\n", __LINE__, #holds);                                                 \
            wrong++;                                                                                         \
        }                                                                                                    \
    } while (0)

static int place_of(const char *name)
{
    int at = 0;
    while (intervals[at].name && strcmp(intervals[at].name, name))
        at++;
    intervals[at].name = name;
    return at;
}

static void begun(const char *name) { intervals[place_of(name)].began = wall(); }

static void ends(const char *name)
{
    int at = place_of(name);
    intervals[at].time += wall() - intervals[at].began;
    intervals[at].executions++;
}

/* A message to itself as the protocol has it: blocking, and so large that it could not be sent before it is
   received. */
static void blocking(int tag, MPI_Comm communicator)
{
    static int large[1 << 18];
    MPI_Status status;
    int own, bytes;
    MPI_Comm_rank(communicator, &own);
    CHECK(MPI_Ssend(large, 1 << 18, MPI_INT, own, tag, communicator) == MPI_SUCCESS);
    CHECK(MPI_Recv(large, 1 << 18, MPI_INT, own, tag, communicator, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    CHECK(status.MPI_SOURCE == own && status.MPI_TAG == tag && bytes == 1 << 20);
}

/* Its content arrives, though no library carries it. */
static void with_content(int tag)
{
    int sent = 4711 + rank, got = -1, bytes;
    MPI_Status status;
    CHECK(MPI_Send(&sent, 1, MPI_INT, rank, tag, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_INT, &bytes);
    CHECK(got == sent && status.MPI_SOURCE == rank && status.MPI_TAG == tag && bytes == 1);
}

static void nonblocking(int tag, int receives_first)
{
    int sent = 1, got = -1;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    if (receives_first)
        CHECK(MPI_Irecv(&got, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &requests[1]) == MPI_SUCCESS);
    CHECK(MPI_Isend(&sent, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &requests[0]) == MPI_SUCCESS);
    if (!receives_first)
        CHECK(MPI_Irecv(&got, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &requests[1]) == MPI_SUCCESS);
    CHECK(MPI_Waitall(2, requests, statuses) == MPI_SUCCESS);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
}

static void exchanged(int tag, MPI_Comm communicator)
{
    int sent = 17, got = -1, own, bytes;
    MPI_Status status;
    MPI_Comm_rank(communicator, &own);
    CHECK(MPI_Sendrecv(&sent, 1, MPI_INT, own, tag, &got, 1, MPI_INT, own, tag, communicator, &status) ==
          MPI_SUCCESS);
    MPI_Get_count(&status, MPI_INT, &bytes);
    CHECK(got == 17 && status.MPI_SOURCE == own && status.MPI_TAG == tag && bytes == 1);
}

static void replaced(int tag)
{
    int both = 18;
    CHECK(MPI_Sendrecv_replace(&both, 1, MPI_INT, rank, tag, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
          MPI_SUCCESS);
    CHECK(both == 18);
}

/* Prepared once, and started for each mark, one by one or together; every other time what is received is
   started first. */
static void persistent(double seconds)
{
    int sent = 31, got = -1;
    MPI_Request begin[2], end[2];
    MPI_Status statuses[2];
    CHECK(MPI_Send_init(&sent, 1, MPI_INT, rank, BEGIN_OF(77), MPI_COMM_WORLD, &begin[0]) == MPI_SUCCESS);
    CHECK(MPI_Recv_init(&got, 1, MPI_INT, rank, BEGIN_OF(77), MPI_COMM_WORLD, &begin[1]) == MPI_SUCCESS);
    CHECK(MPI_Ssend_init(&sent, 1, MPI_INT, rank, END_OF(77), MPI_COMM_WORLD, &end[0]) == MPI_SUCCESS);
    CHECK(MPI_Recv_init(&got, 1, MPI_INT, rank, END_OF(77), MPI_COMM_WORLD, &end[1]) == MPI_SUCCESS);
    for (int n = 0; n < 4; n++) {
        got = -1;
        MPI_Startall(2, begin);
        MPI_Waitall(2, begin, statuses);
        CHECK(got == sent);
        begun("interval[77]");
        burn_cpu(seconds * 0.05);
        ends("interval[77]");
        MPI_Start(&end[n % 2]);
        MPI_Start(&end[1 - n % 2]);
        MPI_Wait(&end[0], MPI_STATUS_IGNORE);
        MPI_Wait(&end[1], MPI_STATUS_IGNORE);
        CHECK(begin[0] != MPI_REQUEST_NULL && end[1] != MPI_REQUEST_NULL);
    }
    for (int n = 0; n < 2; n++) {
        MPI_Request_free(&begin[n]);
        MPI_Request_free(&end[n]);
    }
    CHECK(begin[0] == MPI_REQUEST_NULL && end[1] == MPI_REQUEST_NULL);
}

KEPT static void unwanted(double seconds) { burn_cpu(seconds); }

/* What is no mark is MPI's: another rank under such a tag is an error, a plain message to itself arrives. */
static void no_marks(int size)
{
    int sent = 5, got = -1, code = MPI_SUCCESS, class = MPI_SUCCESS;
    MPI_Request request;
    MPI_Status status;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Send(&sent, 1, MPI_INT, (rank + 1) % size, BEGIN_OF(1), MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    CHECK(size == 1 || class == MPI_ERR_TAG);
    code = MPI_Send(&sent, 1, MPI_INT, rank, (int)0xaa0001abu, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_TAG);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    CHECK(MPI_Send(&sent, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD) == MPI_SUCCESS);
    MPI_Isend(&sent, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &request);
    MPI_Recv(&got, 1, MPI_INT, rank, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == 5 && status.MPI_TAG == 3);
}

int main(int argc, char **argv)
{
    double seconds = seconds_argument(argc, argv, 1, 1.0);
    int size;
    MPI_Comm turned;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* Ranks the other way round: a rank of MPI_COMM_WORLD is another one here. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);

    blocking(BEGIN_OF(1), MPI_COMM_WORLD);
    begun("interval[1]");
    burn_cpu(seconds * 0.1);
    exchanged(BEGIN_OF(2), turned);
    begun("interval[2]");
    burn_cpu(seconds * 0.1);
    ends("interval[2]");
    blocking(END_OF(2), turned);
    for (int n = 0; n < 3; n++) {
        nonblocking(BEGIN_OF(40000), n % 2);
        begun("interval[40000]");
        burn_cpu(seconds * 0.05);
        ends("interval[40000]");
        nonblocking(END_OF(40000), n % 2);
    }
    ends("interval[1]");
    with_content(END_OF(1));

    replaced(BEGIN_OF(65535));
    begun("interval[65535]");
    burn_cpu(seconds * 0.1);
    ends("interval[65535]");
    with_content(END_OF(65535));
    persistent(seconds);
    /* Ends nothing. */
    exchanged(END_OF(9), MPI_COMM_WORLD);

    for (int n = 0; n < 2; n++) {
        MPI_Pcontrol(3, "solve", 7);
        begun("solve[7]");
        burn_cpu(seconds * 0.05);
        MPI_Pcontrol(4, "step", -2);
        begun("step[-2]");
        burn_cpu(seconds * 0.05);
        ends("step[-2]");
        MPI_Pcontrol(-4, "step", -2);
        ends("solve[7]");
        MPI_Pcontrol(-3, "solve", 7);
    }
    MPI_Pcontrol(5, "no number", -2147483647 - 1);
    begun("no number");
    burn_cpu(seconds * 0.05);
    ends("no number");
    MPI_Pcontrol(-5, "no number", -2147483647 - 1);
    proust_begin_replicated("by all", PROUST_NO_NUMBER, 0);
    begun("by all");
    burn_cpu(seconds * 0.1);
    ends("by all");
    proust_end("by all", PROUST_NO_NUMBER);
    proust_begin_replicated_in("by these", PROUST_NO_NUMBER, turned);
    begun("by these");
    burn_cpu(seconds * 0.1);
    ends("by these");
    proust_end("by these", PROUST_NO_NUMBER);
    /* Of no meaning here, and not to be followed: the second argument is none. */
    MPI_Pcontrol(-1, (char *)1, 0);
    MPI_Pcontrol(3, (char *)1, 0);
    MPI_Pcontrol(-3, (char *)0, 0);
    MPI_Pcontrol(2);
    MPI_Pcontrol(0);
    unwanted(seconds * 0.2);
    MPI_Pcontrol(1);
    no_marks(size);

    MPI_Barrier(MPI_COMM_WORLD);
    int all_wrong = 0;
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("{\"wrong\": %d, \"unwanted_s\": %.6f, \"intervals\": {", all_wrong, seconds * 0.2);
    for (int at = 0; at < MOST && intervals[at].name; at++) {
        double mine[2] = {intervals[at].time, intervals[at].executions}, all[2];
        MPI_Reduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%s\"%s\": {\"executions\": %.0f, \"time_s\": %.6f}", at ? ", " : "", intervals[at].name,
                   all[1], all[0]);
    }
    if (rank == 0)
        printf("}}\n");
    MPI_Comm_free(&turned);
    MPI_Finalize();
    return wrong != 0;
}
