/* What a barrier, a region, a task, a critical section and a chunk take, and a barrier after a microsecond of
 * work: the least of many batches, in nanoseconds, as JSON. */
#include <stdint.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCHES 400
#define EACH 250

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void shorter(double *least, double begin)
{
    double took = (now() - begin) / EACH;
    if (took < *least)
        *least = took;
}

static void work(uint64_t *x, int steps)
{
    for (int step = 0; step < steps; step++) {
        *x = *x * UINT64_C(6364136223846793005) + 1;
        __asm__ volatile("" : "+r"(*x));
    }
}

/* So many steps take a microsecond, where nothing disturbs. */
static int steps_of_a_microsecond(void)
{
    uint64_t x = 1;
    double least = 1e12;
    for (int b = 0; b < BATCHES; b++) {
        double begin = now();
        work(&x, 10 * EACH);
        shorter(&least, begin);
    }
    return (int)(10 * 1000 / least);
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    int batches = argc > 2 ? atoi(argv[2]) : BATCHES;
    double region = 1e12, barrier = 1e12, task = 1e12, critical = 1e12, chunk = 1e12, steady = 1e12;
    volatile long sum = 0;
    int steps = steps_of_a_microsecond();
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
    for (int b = 0; b < batches; b++) {
        double begin = now();
        for (int i = 0; i < EACH; i++) {
#pragma omp parallel
            __asm__ volatile("");
        }
        shorter(&region, begin);
    }
#pragma omp parallel
    for (int b = 0; b < batches; b++) {
#pragma omp barrier
        double begin = now();
        for (int i = 0; i < EACH; i++) {
#pragma omp barrier
        }
        if (omp_get_thread_num() == 0)
            shorter(&barrier, begin);
    }
#pragma omp parallel
    for (int b = 0; b < batches; b++) {
        uint64_t x = (uint64_t)b;
#pragma omp barrier
        double begin = now();
        for (int i = 0; i < EACH; i++) {
            work(&x, steps);
#pragma omp barrier
        }
        if (omp_get_thread_num() == 0)
            shorter(&steady, begin);
    }
    /* By one thread alone: nobody has to wait. */
    for (int b = 0; b < batches; b++) {
#pragma omp parallel num_threads(1)
        {
            double begin = now();
            for (int i = 0; i < EACH; i++) {
#pragma omp critical
                sum = sum + 1;
            }
            shorter(&critical, begin);
        }
    }
    for (int b = 0; b < batches; b++) {
#pragma omp parallel
        {
#pragma omp single
            {
                double begin = now();
                for (int i = 0; i < EACH; i++) {
#pragma omp task
                    __asm__ volatile("");
                }
#pragma omp taskwait
                shorter(&task, begin);
            }
        }
    }
    for (int b = 0; b < batches; b++) {
#pragma omp parallel
        {
#pragma omp barrier
            double begin = now();
#pragma omp for schedule(dynamic, 1)
            for (int i = 0; i < EACH * threads; i++)
                __asm__ volatile("");
            if (omp_get_thread_num() == 0)
                shorter(&chunk, begin);
        }
    }
    printf("{\"threads\":%d,\"region_ns\":%.1f,\"barrier_ns\":%.1f,\"task_ns\":%.1f,\"critical_ns\":%.1f,"
           "\"chunk_ns\":%.1f,\"steady_ns\":%.1f}\n",
           threads, region, barrier, task, critical, chunk, steady);
    return 0;
}
