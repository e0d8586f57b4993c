/* Relaxation of a grid in loops of about a microsecond, each with a barrier behind it, as solvers have them
 * that divide the innermost loop: 10^6 barriers a second and thread. Prints what a loop with its barrier
 * takes, as JSON.
 * barriers THREADS SECONDS [COLUMNS]
 *
 * By GCC two kinds of batches take turns: the runtime's own function, and what a program that calls it by
 * its name gets. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Three grids of 256 rows: with 512 columns 3 MiB, beyond the second cache of most processors. */
#define ROWS 256
#define MOST_BATCHES 100000

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_time);
    return count ? values[count / 2] : 0;
}

#ifdef __clang__
#define MEET() _Pragma("omp barrier")
#define WAYS 1
#else
extern void GOMP_barrier(void);
#define MEET() meet()
#define WAYS 2
#endif

static int columns;
static double *u, *v, *w;

/* One sweep over all rows; each thread has its columns. */
static double sweep(int from, int to, void (*meet)(void))
{
    double sum = 0;
    (void)meet;
    for (int row = 1; row < ROWS; row++) {
        double *a = u + (long)row * columns, *b = v + (long)row * columns, *c = w + (long)row * columns;
        const double *above = a - columns;
        for (int j = from; j < to; j++)
            b[j] = 0.25 * (a[j - 1] + a[j + 1] + above[j] + c[j]);
        MEET();
        for (int j = from; j < to; j++)
            c[j] += 0.5 * (b[j] - c[j]);
        MEET();
        for (int j = from; j < to; j++) {
            a[j] += 0.5 * (c[j] - a[j]);
            sum += a[j];
        }
        MEET();
    }
    return sum;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    double until = now() + (argc > 2 ? atof(argv[2]) : 1) * 1e9;
    columns = argc > 3 ? atoi(argv[3]) : 512;
    long cells = (long)ROWS * columns;
    u = calloc((size_t)cells, sizeof *u), v = calloc((size_t)cells, sizeof *v),
    w = calloc((size_t)cells, sizeof *w);
    static double took[2][MOST_BATCHES];
    int batches = 0, over = 0;
    double total = 0;
    for (long i = 0; i < cells; i++)
        u[i] = (double)(i % 97), w[i] = (double)(i % 89);
    void (*ways[2])(void) = { NULL, NULL };
#ifndef __clang__
    void *runtime = dlopen("libgomp.so.1", RTLD_NOW);
    ways[0] = GOMP_barrier;
    ways[1] = (void (*)(void))dlsym(runtime, "GOMP_barrier");
#endif
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
    double begin = now();
#pragma omp parallel reduction(+ : total)
    {
        int me = omp_get_thread_num(), share = (columns - 2) / omp_get_num_threads();
        int from = 1 + me * share, to = from + share;
        while (!over) {
            for (int way = 0; way < WAYS; way++) {
                double since = now();
                total += sweep(from, to, ways[way]);
                if (me == 0 && batches < MOST_BATCHES)
                    took[way][batches] = (now() - since) / (3.0 * (ROWS - 1));
            }
            if (me == 0) {
                batches += batches < MOST_BATCHES - 1;
                over = now() >= until;
            }
#pragma omp barrier
        }
    }
    double wall = now() - begin;
    double count = (double)batches * WAYS * 3 * (ROWS - 1);
    printf("{\"threads\":%d,\"barriers\":%.0f,\"loop_ns\":%.2f", threads, count, wall / count);
    /* Of each pair of batches the difference, so that what the machine does meanwhile meets both. */
    double by_name = 0, own = 0, added = 0;
    if (WAYS == 2) {
        static double differences[MOST_BATCHES];
        for (int i = 0; i < batches; i++)
            differences[i] = took[0][i] - took[1][i];
        added = median(differences, batches);
        own = median(took[1], batches);
    }
    by_name = median(took[0], batches);
    printf(",\"by_name_ns\":%.2f,\"own_ns\":%.2f,\"added_ns\":%.2f,\"sum\":%.6g}\n", by_name, own, added,
           total);
    return 0;
}
