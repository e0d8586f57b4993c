/* Requests: every way to complete them, few and many, persistent ones, and ones that are given up. */
#include "cases.h"

#include <unistd.h>

/* More than a tool may have room for in a hook's frame. */
enum { MANY = 40 };

static int numbers[MANY];
static MPI_Request all[MANY];
static MPI_Status statuses[MANY];

/* Receives at rank 1, sends at rank 0; every third place is empty. */
static void start(int count)
{
    for (int one = 0; one < count; one++) {
        numbers[one] = rank == 0 ? 1000 + one : -1;
        statuses[one].MPI_ERROR = 555;
        if (one % 3 == 2)
            all[one] = MPI_REQUEST_NULL;
        else if (rank == 0)
            MPI_Isend(&numbers[one], 1, MPI_INT, 1, one, MPI_COMM_WORLD, &all[one]);
        else
            MPI_Irecv(&numbers[one], 1, MPI_INT, one % 2 ? MPI_ANY_SOURCE : 0, one, MPI_COMM_WORLD,
                      &all[one]);
    }
}

static void check(int count)
{
    for (int one = 0; one < count; one++) {
        CHECK(all[one] == MPI_REQUEST_NULL);
        CHECK(rank == 0 || one % 3 == 2 || numbers[one] == 1000 + one);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void say_received(int count)
{
    for (int one = 0; one < count && rank == 1; one++)
        say_status("of all", &statuses[one]);
}

static void waited(int count)
{
    start(count);
    for (int one = 0; one < count; one++) {
        statuses[0].MPI_ERROR = 666;
        say("wait %d", MPI_Wait(&all[one], &statuses[0]));
        if (rank == 1)
            say_status("waited", &statuses[0]);
    }
    check(count);
    start(count);
    say("waitall %d", MPI_Waitall(count, all, statuses));
    say_received(count);
    check(count);
    start(count);
    say("waitall ignored %d", MPI_Waitall(count, all, MPI_STATUSES_IGNORE));
    check(count);
    start(count);
    int at = -1, done = 0;
    long places = 0;
    for (;;) {
        CHECK(MPI_Waitany(count, all, &at, done % 2 ? &statuses[0] : MPI_STATUS_IGNORE) == MPI_SUCCESS);
        if (at == MPI_UNDEFINED)
            break;
        CHECK(rank == 0 || done % 2 == 0 || statuses[0].MPI_TAG == at);
        places += at;
        done++;
    }
    say("waitany %d done, places %ld", done, places);
    check(count);
    for (int ignored = 0; ignored < 2; ignored++) {
        int indices[MANY], outcount = 0;
        start(count);
        for (done = 0, places = 0;;) {
            CHECK(MPI_Waitsome(count, all, &outcount, indices, ignored ? MPI_STATUSES_IGNORE : statuses)
                  == MPI_SUCCESS);
            if (outcount == MPI_UNDEFINED)
                break;
            for (int one = 0; one < outcount; one++) {
                CHECK(ignored || rank == 0 || statuses[one].MPI_TAG == indices[one]);
                places += indices[one];
            }
            done += outcount;
        }
        say("waitsome %d done, places %ld", done, places);
        check(count);
    }
}

static void tested(int count)
{
    int flag, at, indices[MANY], outcount, done;
    long places = 0;
    start(count);
    for (int one = 0; one < count; one++) {
        do
            CHECK(MPI_Test(&all[one], &flag, one % 2 ? &statuses[0] : MPI_STATUS_IGNORE) == MPI_SUCCESS);
        while (!flag);
        if (rank == 1 && one % 2)
            say_status("tested", &statuses[0]);
    }
    check(count);
    for (int ignored = 0; ignored < 2; ignored++) {
        start(count);
        do
            CHECK(MPI_Testall(count, all, &flag, ignored ? MPI_STATUSES_IGNORE : statuses) == MPI_SUCCESS);
        while (!flag);
        if (!ignored)
            say_received(count);
        check(count);
        start(count);
        for (done = 0, places = 0;;) {
            CHECK(MPI_Testany(count, all, &at, &flag, ignored ? MPI_STATUS_IGNORE : statuses)
                  == MPI_SUCCESS);
            if (flag && at == MPI_UNDEFINED)
                break;
            if (!flag)
                continue;
            CHECK(ignored || rank == 0 || statuses[0].MPI_TAG == at);
            places += at;
            done++;
        }
        say("testany %d done, places %ld", done, places);
        check(count);
        start(count);
        for (done = 0, places = 0;;) {
            CHECK(MPI_Testsome(count, all, &outcount, indices, ignored ? MPI_STATUSES_IGNORE : statuses)
                  == MPI_SUCCESS);
            if (outcount == MPI_UNDEFINED)
                break;
            for (int one = 0; one < outcount; one++) {
                CHECK(ignored || rank == 0 || statuses[one].MPI_TAG == indices[one]);
                places += indices[one];
            }
            done += outcount;
        }
        say("testsome %d done, places %ld", done, places);
        check(count);
    }
}

static void persistent(void)
{
    MPI_Request pair[2], before[2];
    int in = -1, out, flag = -1, at = -1;
    MPI_Status two[2] = {0};
    MPI_Send_init(&out, 1, MPI_INT, partner, 50, MPI_COMM_WORLD, &pair[0]);
    MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &pair[1]);
    memcpy(before, pair, sizeof pair);
    /* Not started yet: complete, and empty. */
    CHECK(MPI_Test(&pair[1], &flag, &two[0]) == MPI_SUCCESS && flag == 1);
    say_status("inactive", &two[0]);
    MPI_Waitany(2, pair, &at, MPI_STATUS_IGNORE);
    CHECK(at == MPI_UNDEFINED);
    for (int round = 0; round < 20; round++) {
        out = 10 * round + rank;
        if (round % 2) {
            CHECK(MPI_Startall(2, pair) == MPI_SUCCESS);
        } else {
            CHECK(MPI_Start(&pair[1]) == MPI_SUCCESS && MPI_Start(&pair[0]) == MPI_SUCCESS);
        }
        if (round % 3 == 0) {
            MPI_Waitall(2, pair, two);
        } else if (round % 3 == 1) {
            MPI_Wait(&pair[0], &two[0]);
            MPI_Wait(&pair[1], &two[1]);
        } else {
            do
                MPI_Testall(2, pair, &flag, two);
            while (!flag);
        }
        CHECK(in == 10 * round + partner && memcmp(before, pair, sizeof pair) == 0);
        CHECK(two[1].MPI_SOURCE == partner && two[1].MPI_TAG == 50);
    }
    CHECK(MPI_Request_free(&pair[0]) == MPI_SUCCESS && MPI_Request_free(&pair[1]) == MPI_SUCCESS);
    CHECK(pair[0] == MPI_REQUEST_NULL && pair[1] == MPI_REQUEST_NULL);
}

static void given_up(void)
{
    MPI_Request request;
    MPI_Status status = {0};
    int number = -1, flag = -1;
    MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 60, MPI_COMM_WORLD, &request);
    CHECK(MPI_Cancel(&request) == MPI_SUCCESS);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag == 1);
    MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 60, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
    /* The receiver sees the message, though nobody waits for the send. */
    if (rank == 0) {
        number = 4;
        MPI_Isend(&number, 1, MPI_INT, 1, 61, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        CHECK(request == MPI_REQUEST_NULL);
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Irecv(&number, 1, MPI_INT, 0, 61, MPI_COMM_WORLD, &request);
        do
            MPI_Request_get_status(request, &flag, &status);
        while (!flag);
        say_status("asked", &status);
        CHECK(request != MPI_REQUEST_NULL && number == 4);
        MPI_Wait(&request, &status);
        say_status("asked and waited", &status);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS);
    say_status("nothing", &status);
    CHECK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
}

/* Polls, computes, and polls again: as programs do that overlap. */
static void overlapped(void)
{
    int number = -1, flag = 0, polls = 0;
    MPI_Request request;
    if (rank == 0) {
        usleep(20000);
        MPI_Isend(&rank, 1, MPI_INT, 1, 70, MPI_COMM_WORLD, &request);
    } else {
        MPI_Irecv(&number, 1, MPI_INT, 0, 70, MPI_COMM_WORLD, &request);
    }
    while (!flag) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        kept_result = kept_result + 1;
        polls++;
    }
    CHECK(request == MPI_REQUEST_NULL && (rank == 0 || (number == 0 && polls > 1)));
}

/* Thousands at once: more than a tool follows. */
static void flood(void)
{
    enum { COUNT = 70000 };
    MPI_Request *requests = malloc(COUNT * sizeof *requests);
    char *bytes = calloc(COUNT, 1);
    for (int one = 0; one < COUNT; one++)
        MPI_Irecv(&bytes[one], 1, MPI_CHAR, 0, 80, MPI_COMM_SELF, &requests[one]);
    for (int one = 0; one < COUNT; one++) {
        char byte = (char)(one % 100);
        MPI_Send(&byte, 1, MPI_CHAR, 0, 80, MPI_COMM_SELF);
    }
    CHECK(MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    int wrong = 0;
    for (int one = 0; one < COUNT; one++)
        wrong += bytes[one] != one % 100 || requests[one] != MPI_REQUEST_NULL;
    CHECK(wrong == 0);
    free(requests);
    free(bytes);
}

void requests(void)
{
    say("requests");
    waited(5);
    waited(MANY);
    tested(5);
    tested(MANY);
    persistent();
    given_up();
    overlapped();
    flood();
}
