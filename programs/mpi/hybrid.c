/*
 * Ranks of two threads with a known loss on each level: in each step one thread of a rank works alone, then
 * both work in a region, then all ranks meet. Threads sleep where they would work, so that a loaded machine
 * decides little.
 * hybrid SECONDS CASE
 *   balanced  all threads of all ranks work alike, and always
 *   ranks     rank 0 has twice as much to do, in the region
 *   threads   one thread of each rank has twice as much to do in the region
 *   serial    half of the time one thread of each rank works alone
 *   chain     ranks take turns
 *   all       the first three at once
 * Each rank prints a line by its own clock: when MPI_Init ended and MPI_Finalize began, the time outside of
 * MPI between them, in regions, and of each thread's work there, and how often it lost its processor. It
 * does so behind MPI_Finalize: whoever reads it may take the processor.
 */
#include "../truth.h"

#include <mpi.h>
#include <omp.h>
#include <string.h>
#include <sys/resource.h>

enum { THREADS = 2 };

static const double step_s = 0.08;
static int rank, ranks;
static struct {
    double mpi_s, regions_s, work_s[THREADS];
} own;

static void rest(double length_s)
{
    struct timespec time = {(time_t)length_s, (long)(1e9 * (length_s - (double)(time_t)length_s))};
    if (length_s > 0)
        nanosleep(&time, NULL);
}

#define IN_MPI(call)                                                                                         \
    do {                                                                                                     \
        double since_s = wall();                                                                             \
        call;                                                                                                \
        own.mpi_s += wall() - since_s;                                                                       \
    } while (0)

KEPT static void alone(double length_s)
{
    rest(length_s);
    __asm__ volatile("");
}

KEPT static void together(const double *lengths_s)
{
    const double from_s = wall();
#pragma omp parallel num_threads(THREADS)
    {
        const int thread = omp_get_thread_num();
        const double since_s = wall();
        rest(lengths_s[thread]);
        own.work_s[thread] += wall() - since_s;
    }
    own.regions_s += wall() - from_s;
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 1;
    const char *how = argc > 2 ? argv[2] : "all";
    const int all = !strcmp(how, "all"), chain = !strcmp(how, "chain");
    int token = 0;
    MPI_Init(&argc, &argv);
    const double from_s = wall();
    IN_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    IN_MPI(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    const double more = rank == 0 && (all || !strcmp(how, "ranks")) ? 2 : 1;
    const double second = all || !strcmp(how, "threads") ? 0.5 : 1;
    const double serial = all || !strcmp(how, "serial") ? 1 : 0;
    const double lengths_s[THREADS] = {step_s * more, step_s * more * second};
    IN_MPI(MPI_Barrier(MPI_COMM_WORLD));
    for (int n = 0; n < (int)(seconds / step_s) + 1; n++) {
        if (chain && rank > 0)
            IN_MPI(MPI_Recv(&token, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        alone(step_s * serial);
        together(lengths_s);
        if (chain && rank < ranks - 1)
            IN_MPI(MPI_Send(&token, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD));
        IN_MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    const double until_s = wall();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    MPI_Finalize();
    printf("{\"program\":\"hybrid\",\"rank\":%d,\"from_s\":%.6f,\"until_s\":%.6f,\"outside_s\":%.6f,"
           "\"regions_s\":%.6f,\"work_s\":[%.6f,%.6f],\"preemptions\":%ld}\n",
           rank, from_s, until_s, until_s - from_s - own.mpi_s, own.regions_s, own.work_s[0], own.work_s[1],
           usage.ru_nivcsw);
    return 0;
}
