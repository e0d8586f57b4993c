/* Errors: what is returned, what handlers get, and handlers that jump out of a call. */
#include "cases.h"

#include <setjmp.h>

static int handled, handled_class;
static MPI_Comm handled_on;
static jmp_buf back __attribute__((unused));

static void count(MPI_Comm *communicator, int *code, ...)
{
    handled++;
    handled_class = class_of(*code);
    handled_on = *communicator;
}

static void jump(MPI_Comm *communicator, int *code, ...)
{
    (void)communicator, (void)code;
    longjmp(back, 1);
}

/* A message of 8 numbers for a buffer of 2. */
static void send_too_much(int tag)
{
    int numbers[8] = {0};
    MPI_Send(numbers, 8, MPI_INT, 1, tag, MPI_COMM_WORLD);
}

static void truncated(const char *how)
{
    int two[2], flag = 0, at = -1, outcount = -1, indices[3] = {-1, -1, -1}, result;
    MPI_Status status = {0}, statuses[3];
    MPI_Request request[3];
    for (int way = 0; way < 11; way++) {
        /* MPI_Waitall of Open MPI 4 spins for ever if a request has failed before it is called. */
        const int comes_later = way == 4 || way == 5;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            if (comes_later)
                MPI_Recv(NULL, 0, MPI_INT, 1, 200 + way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            send_too_much(way);
            if (way >= 3)
                MPI_Send(two, 1, MPI_INT, 1, 100 + way, MPI_COMM_WORLD);
            continue;
        }
        memset(statuses, 0, sizeof statuses);
        status.MPI_ERROR = 31337;
        handled = handled_class = 0;
        if (way == 0) {
            result = MPI_Recv(two, 2, MPI_INT, 0, way, MPI_COMM_WORLD, &status);
        } else if (way == 1) {
            result = MPI_Recv(two, 2, MPI_INT, 0, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Irecv(two, 2, MPI_INT, 0, way, MPI_COMM_WORLD, &request[1]);
            request[0] = request[2] = MPI_REQUEST_NULL;
            if (way >= 3)
                MPI_Irecv(two, 2, MPI_INT, 0, 100 + way, MPI_COMM_WORLD, &request[2]);
            if (comes_later)
                MPI_Send(NULL, 0, MPI_INT, 0, 200 + way, MPI_COMM_WORLD);
            if (way == 2) {
                result = MPI_Wait(&request[1], &status);
            } else if (way == 3) {
                result = MPI_Wait(&request[1], MPI_STATUS_IGNORE);
            } else if (way == 4) {
                result = MPI_Waitall(3, request, statuses);
            } else if (way == 5) {
                result = MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
            } else if (way == 6) {
                /* Its partner is left for below. */
                result = MPI_Waitany(2, request, &at, &status);
            } else if (way == 7) {
                do
                    result = MPI_Test(&request[1], &flag, MPI_STATUS_IGNORE);
                while (result == MPI_SUCCESS && !flag);
            } else if (way == 8) {
                do
                    result = MPI_Testall(3, request, &flag, statuses);
                while (result == MPI_SUCCESS && !flag);
            } else if (way == 9) {
                do
                    result = MPI_Testany(2, request, &at, &flag, MPI_STATUS_IGNORE);
                while (result == MPI_SUCCESS && !flag);
            } else {
                do
                    result = MPI_Testsome(2, request, &outcount, indices, MPI_STATUSES_IGNORE);
                while (result == MPI_SUCCESS && outcount == 0);
            }
            /* Whether the third one is complete by then is a matter of time. */
            say("%s %d: pending %d index %d", how, way, request[1] != MPI_REQUEST_NULL, at);
            if (way == 4 || way == 8)
                say("%s %d: its status %d", how, way, class_of(statuses[1].MPI_ERROR));
            if (request[2] != MPI_REQUEST_NULL)
                MPI_Wait(&request[2], MPI_STATUS_IGNORE);
        }
        say("%s %d: class %d handled %d as %d", how, way, class_of(result), handled, handled_class);
    }
}

static void wrong_arguments(void)
{
    int number = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    say("rank %d", class_of(MPI_Send(&number, 1, MPI_INT, 99, 1, MPI_COMM_WORLD)));
    say("tag %d", class_of(MPI_Send(&number, 1, MPI_INT, partner, -77, MPI_COMM_WORLD)));
    say("count %d", class_of(MPI_Send(&number, -1, MPI_INT, partner, 1, MPI_COMM_WORLD)));
    say("type %d", class_of(MPI_Send(&number, 1, MPI_DATATYPE_NULL, partner, 1, MPI_COMM_WORLD)));
    say("communicator %d", class_of(MPI_Send(&number, 1, MPI_INT, partner, 1, MPI_COMM_NULL)));
    say("receive %d",
        class_of(MPI_Recv(&number, 1, MPI_INT, 99, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)));
    say("isend %d", class_of(MPI_Isend(&number, 1, MPI_INT, 99, 1, MPI_COMM_WORLD, &request)));
    say("irecv %d", class_of(MPI_Irecv(&number, 1, MPI_INT, 99, 1, MPI_COMM_WORLD, &request)));
    say("root %d", class_of(MPI_Bcast(&number, 1, MPI_INT, 99, MPI_COMM_WORLD)));
    say("operation %d",
        class_of(MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD)));
    say("start %d", class_of(MPI_Start(&request)));
    say("free %d", class_of(MPI_Request_free(&request)));
    say("dup %d", class_of(MPI_Comm_dup(MPI_COMM_NULL, &(MPI_Comm){MPI_COMM_NULL})));
    say("probe %d", class_of(MPI_Probe(99, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)));
}

/* MPICH holds a lock of its own when it calls a handler: there none may jump. */
static void jumped(void)
{
#ifdef OPEN_MPI
    static volatile int jumps;
    MPI_Errhandler handler;
    int number = 0;
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (jumps = 0; jumps < 20;) {
        if (setjmp(back) == 0) {
            MPI_Send(&number, 1, MPI_INT, 99, 1, MPI_COMM_WORLD);
            say("WRONG: did not jump");
            break;
        }
        jumps++;
        CHECK(MPI_Sendrecv(&rank, 1, MPI_INT, partner, 1, &number, 1, MPI_INT, partner, 1, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE)
              == MPI_SUCCESS);
        CHECK(number == partner);
    }
    say("jumped %d times", jumps);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
#else
    (void)jump;
#endif
}

void errors(void)
{
    say("errors");
    MPI_Errhandler handler, before;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    truncated("returned");
    wrong_arguments();
    MPI_Comm_create_errhandler(count, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    truncated("handled");
    handled = 0;
    MPI_Ssend(&rank, 1, MPI_INT, 77, 1, MPI_COMM_WORLD);
    CHECK(handled == 1 && handled_on == MPI_COMM_WORLD && handled_class == MPI_ERR_RANK);
    MPI_Errhandler_free(&handler);
    jumped();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    MPI_Errhandler_free(&before);
}
