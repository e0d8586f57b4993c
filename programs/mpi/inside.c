/*
 * Operations inside calls of MPI: a reduction's own function sleeps, and a file is written by MPI. Prints
 * how often and how long by its own clock. inside FILE
 */
#include <mpi.h>
#include <unistd.h>

#include "../truth.h"

#define CALLS 20
#define BYTES 4096

static int sleeps;
static double slept_s;

static void sleeps_and_adds(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int n = 0; n < *count; n++)
        ((int *)inout)[n] += ((int *)in)[n];
    double begin = wall();
    usleep(2000);
    slept_s += wall() - begin;
    sleeps++;
}

KEPT static void reduce(void)
{
    MPI_Op operation;
    int one = 1, sum = 0;
    MPI_Op_create(sleeps_and_adds, 1, &operation);
    for (int n = 0; n < CALLS; n++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, operation, MPI_COMM_WORLD);
    MPI_Op_free(&operation);
}

KEPT static void store(const char *path)
{
    static char data[BYTES];
    MPI_File file;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int n = 0; n < CALLS; n++)
        MPI_File_write_at(file, (MPI_Offset)n * BYTES, data, BYTES, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    int rank;
    char path[512];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s.%d", argc > 1 ? argv[1] : "/tmp/inside", rank);
    double begin = wall();
    reduce();
    double reduced_s = wall() - begin;
    store(path);
    unlink(path);
    printf("{\"rank\":%d,\"sleeps\":%d,\"slept_s\":%.9f,\"reduced_s\":%.9f,\"written_bytes\":%d}\n", rank,
           sleeps, slept_s, reduced_s, CALLS * BYTES);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
