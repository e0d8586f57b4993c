/*
 * What a library with parallel regions does and checks of itself. All of it is wrong where the functions of
 * its runtime are not all of one runtime, or do nothing.
 */
#pragma once
#include <omp.h>
#include <stdio.h>
#include <string.h>

#define THREADS 3
#define ITERATIONS 3000

/* What came out: as text, the same in each run that works. */
struct outcome {
    long sum_static, sum_dynamic, sum_tasks, sum_critical, sum_locked, sum_ordered, copied;
    int workers_static, workers_dynamic, sections, inside;
};

static long numbers_to(long n)
{
    return n * (n + 1) / 2;
}

static int how_many(const int *seen)
{
    int count = 0;
    for (int i = 0; i < THREADS; i++)
        count += seen[i] != 0;
    return count;
}

/* Each kind of construct once, in one region each; with as many threads as are asked for. */
__attribute__((noinline)) static struct outcome all_constructs(void)
{
    struct outcome o;
    memset(&o, 0, sizeof o);
    long sum_static = 0, sum_dynamic = 0;
    int seen[THREADS] = {0}, seen_dynamic[THREADS] = {0};
#pragma omp parallel num_threads(THREADS) reduction(+ : sum_static)
    {
        seen[omp_get_thread_num()] = 1;
#pragma omp for schedule(static)
        for (long i = 1; i <= ITERATIONS; i++)
            sum_static += i;
    }
    o.sum_static = sum_static;
    o.workers_static = how_many(seen);
    /* Nobody leaves the loop before all have come to it: each gets at least one iteration. */
#pragma omp parallel num_threads(THREADS) reduction(+ : sum_dynamic)
    {
        int mine = 0;
#pragma omp for schedule(dynamic, 1)
        for (long i = 1; i <= ITERATIONS; i++) {
            if (!mine++) {
                __atomic_store_n(&seen_dynamic[omp_get_thread_num()], 1, __ATOMIC_SEQ_CST);
                for (int all = 0; !all;) {
                    all = 1;
                    for (int t = 0; t < omp_get_num_threads(); t++)
                        all &= __atomic_load_n(&seen_dynamic[t], __ATOMIC_SEQ_CST);
                    if (!all)
                        __builtin_ia32_pause();
                }
            }
            sum_dynamic += i;
        }
    }
    o.sum_dynamic = sum_dynamic;
    o.workers_dynamic = how_many(seen_dynamic);
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    for (long i = 1; i <= 100; i++) {
#pragma omp task firstprivate(i)
        {
#pragma omp atomic
            o.sum_tasks += i;
        }
    }
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for schedule(static)
        for (long i = 1; i <= 300; i++) {
#pragma omp critical
            o.sum_critical += i;
        }
#pragma omp barrier
#pragma omp for schedule(static, 1) ordered
        for (long i = 1; i <= 30; i++) {
#pragma omp ordered
            o.sum_ordered = o.sum_ordered * 3 % 1000003 + i;
        }
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp atomic
                o.sections++;
            }
#pragma omp section
            {
#pragma omp atomic
                o.sections++;
            }
        }
    }
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(THREADS)
    {
        long copy = 0;
        for (long i = 1; i <= 100; i++) {
            omp_set_lock(&lock);
            o.sum_locked += i;
            omp_unset_lock(&lock);
        }
#pragma omp single copyprivate(copy)
        copy = 14;
#pragma omp atomic
        o.copied += copy;
#pragma omp master
        o.inside = omp_in_parallel();
    }
    omp_destroy_lock(&lock);
    return o;
}

/* Prints it, and says whether it is what it must be. */
static int print_outcome(const char *who, struct outcome o)
{
    int wrong = o.sum_static != numbers_to(ITERATIONS) || o.sum_dynamic != numbers_to(ITERATIONS) ||
                o.sum_tasks != numbers_to(100) || o.sum_critical != numbers_to(300) ||
                o.sum_locked != THREADS * numbers_to(100) || o.copied != THREADS * 14 ||
                o.workers_static != THREADS || o.workers_dynamic != THREADS || o.sections != 2 ||
                o.inside != 1;
    printf("%s: static %ld dynamic %ld tasks %ld critical %ld locked %ld ordered %ld copied %ld threads %d "
           "%d sections %d%s\n",
           who, o.sum_static, o.sum_dynamic, o.sum_tasks, o.sum_critical, o.sum_locked, o.sum_ordered,
           o.copied, o.workers_static, o.workers_dynamic, o.sections, wrong ? " WRONG" : "");
    return wrong;
}
