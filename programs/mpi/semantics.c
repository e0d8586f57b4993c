/*
 * What MPI does, as a program sees it: results, statuses, errors, requests, handles. Each of two ranks writes
 * FOLDER/rank-N, which must be the same with a tool that records the calls as without one. What the standard
 * requires is checked, too: a line with WRONG says what does not hold.
 * semantics FOLDER
 */
#include "cases.h"

int rank, partner;
static FILE *output;

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(output, format, arguments);
    va_end(arguments);
    fputc('\n', output);
    fflush(output);
}

int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

void say_status(const char *what, MPI_Status *status)
{
    int count = -1, cancelled = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    MPI_Test_cancelled(status, &cancelled);
    say("%s: source %d tag %d bytes %d cancelled %d error %d", what, status->MPI_SOURCE, status->MPI_TAG,
        count, cancelled, status->MPI_ERROR);
}

static int at_end(MPI_Comm communicator, int key, void *value, void *state)
{
    (void)communicator, (void)key, (void)state;
    int is_finalized = -1;
    MPI_Finalized(&is_finalized);
    say("attribute of MPI_COMM_SELF deleted with %d, finalized %d", *(int *)value, is_finalized);
    return MPI_SUCCESS;
}

#ifdef LIBRARY
int run_semantics(int argc, char **argv);
int run_semantics(int argc, char **argv)
#else
int main(int argc, char **argv)
#endif
{
    static int value = 42;
    char name[4096];
    int is_initialized = -1, is_finalized = -1, provided = -1, size = -1, key, asked = -1;
    MPI_Initialized(&is_initialized);
    CHECK(is_initialized == 0);
    int result = MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || argc < 2) {
        fprintf(stderr, "semantics FOLDER, with two ranks\n");
        return MPI_Abort(MPI_COMM_WORLD, 3);
    }
    partner = 1 - rank;
    snprintf(name, sizeof name, "%s/rank-%d", argv[1], rank);
    output = fopen(name, "w");
    if (output == NULL)
        return MPI_Abort(MPI_COMM_WORLD, 4);
    MPI_Initialized(&is_initialized);
    MPI_Query_thread(&asked);
    say("init %d thread level %d initialized %d", result, provided, is_initialized);
    CHECK(asked == provided);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &value);

    blocking_messages();
    requests();
    errors();
    collectives();
    communicators();
    storage();
    threads(provided);

    say("finalize %d", MPI_Finalize());
    MPI_Finalized(&is_finalized);
    CHECK(is_finalized == 1);
    say("end");
    fclose(output);
    return 0;
}
