/*
 * The same work on any number of ranks and threads: a part that every rank repeats, one that is divided over
 * all threads of all ranks, with a sum over the ranks in each step, and output by rank 0. Built with MPI and
 * OpenMP, with one of them, or with neither: then it is a sequential program. Each rank times its parts, and
 * rank 0 prints the times of all.
 * divided REPEATED DIVIDED [UNEVEN [THREADS]]: units of work, of about 20 microseconds; UNEVEN is the part of
 * its share that every thread of rank 0 does more, and of the last rank less.
 */
#include "../truth.h"

#include "proust.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#ifndef SEQUENTIAL
#include <mpi.h>
#endif

enum { STEPS = 4, MOST_RANKS = 8, MOST_THREADS = 4, BLOCK = 1 << 20, BLOCKS = 16 };

/* What one rank measures; doubles only, so that it is sent as such. */
struct own {
    double wall_s, repeated_s, divided_s, regions_s, sums_s, output_s, io_s;
    double thread_s[MOST_THREADS];
};

static int rank, ranks = 1, threads = 1;
static struct own own;
static char block[BLOCK];
static volatile uint64_t sink;

KEPT static void work(long units)
{
    uint64_t x = 1;
    for (long n = 0; n < units; n++)
        BURN(x, UNIT);
    sink = x;
}

/* Every rank does all of it, on one thread. */
KEPT static void repeated(long units)
{
    const double from = wall();
    proust_begin_replicated("repeated", PROUST_NO_NUMBER, 0);
    work(units);
    proust_end("repeated", PROUST_NO_NUMBER);
    own.repeated_s = wall() - from;
}

static void sum_over_ranks(void)
{
#ifndef SEQUENTIAL
    double mine = rank, all = 0;
    const double from = wall();
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    own.sums_s += wall() - from;
#endif
}

KEPT static void divided(long units, double uneven)
{
    const double share = (double)units / STEPS / ranks / threads;
    const double more = ranks == 1 ? 0 : rank == 0 ? uneven : rank == ranks - 1 ? -uneven : 0;
    const double from = wall();
    proust_begin("divided", PROUST_NO_NUMBER);
    for (int step = 0; step < STEPS; step++) {
        const double begin = wall();
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
        {
            const double own_begin = wall();
            work((long)(share * (1 + more)));
            own.thread_s[omp_get_thread_num()] += wall() - own_begin;
        }
#else
        work((long)(share * (1 + more)));
        own.thread_s[0] += wall() - begin;
#endif
        own.regions_s += wall() - begin;
        sum_over_ranks();
    }
    proust_end("divided", PROUST_NO_NUMBER);
    own.divided_s = wall() - from;
}

KEPT static void output(void)
{
    char name[] = "/tmp/divided-XXXXXX";
    const double from = wall();
    proust_begin("output", PROUST_NO_NUMBER);
    if (rank == 0) {
        const int file = mkstemp(name);
        const double begin = wall();
        for (int n = 0; n < BLOCKS; n++)
            if (pwrite(file, block, BLOCK, (off_t)(n % 2) * BLOCK) < 0)
                abort();
        own.io_s = wall() - begin;
        close(file);
        unlink(name);
    }
    sum_over_ranks();
    proust_end("output", PROUST_NO_NUMBER);
    own.output_s = wall() - from;
}

static void print_array(const char *name, const struct own *all, size_t field)
{
    printf(",\"%s\":[", name);
    for (int p = 0; p < ranks; p++)
        printf("%s%.6f", p ? "," : "", ((const double *)&all[p])[field]);
    printf("]");
}

static void print(const struct own *all)
{
#define FIELD(name) print_array(#name, all, offsetof(struct own, name) / sizeof(double))
    printf("{\"ranks\":%d,\"threads\":%d,\"steps\":%d", ranks, threads, STEPS);
    FIELD(wall_s);
    FIELD(repeated_s);
    FIELD(divided_s);
    FIELD(regions_s);
    FIELD(sums_s);
    FIELD(output_s);
    FIELD(io_s);
    printf(",\"thread_s\":[");
    for (int p = 0; p < ranks; p++)
        for (int t = 0; t < threads; t++)
            printf("%s%.6f", p || t ? "," : "", all[p].thread_s[t]);
    printf("]}\n");
}

int main(int argc, char **argv)
{
    static struct own all[MOST_RANKS];
    const long repeated_units = argc > 1 ? atol(argv[1]) : 10000;
    const long divided_units = argc > 2 ? atol(argv[2]) : 40000;
    const double uneven = argc > 3 ? atof(argv[3]) : 0;
#ifdef _OPENMP
    threads = argc > 4 ? atoi(argv[4]) : 1;
    if (threads < 1 || threads > MOST_THREADS)
        return 2;
#pragma omp parallel num_threads(threads)
    sink = (uint64_t)omp_get_thread_num();
#endif
#ifndef SEQUENTIAL
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > MOST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    const double from = wall();
    proust_begin("all", PROUST_NO_NUMBER);
    repeated(repeated_units);
    divided(divided_units, uneven);
    output();
    proust_end("all", PROUST_NO_NUMBER);
    own.wall_s = wall() - from;
#ifdef SEQUENTIAL
    all[0] = own;
#else
    enum { DOUBLES = sizeof own / sizeof(double) };
    MPI_Gather(&own, DOUBLES, MPI_DOUBLE, all, DOUBLES, MPI_DOUBLE, 0, MPI_COMM_WORLD);
#endif
    if (rank == 0)
        print(all);
#ifndef SEQUENTIAL
    MPI_Finalize();
#endif
    return 0;
}
