/* Loops whose iterations are handed out while they run, each in an interval of its own. Every thread counts
   the iterations that it executes. */
#include "../truth.h"

#include "proust.h"

#include <omp.h>

enum { THREADS = 2, COUNT = 240 };

/* The kinds of loops; the numbers of THREADS threads in each. */
#define KINDS(of) \
    of(combined) of(combined_down) of(guided) of(separate) of(unsigned_down) of(in_order) of(at_run_time) \
    of(across) of(with_tasks) of(tasks) of(tasks_unsigned) of(at_once) of(counted)

#define COUNTER(kind) static long kind##_n[THREADS][16];
KINDS(COUNTER)

static volatile uint64_t sink;

/* Long enough for the other thread to get iterations, too. */
KEPT static void work(long *mine)
{
    uint64_t x = 1;
    BURN(x, 20000);
    sink = x;
    ++*mine;
}

#define MINE(kind) (&kind##_n[omp_get_thread_num()][0])
#define INTERVAL(kind) \
    for (int once = (proust_begin(#kind, PROUST_NO_NUMBER), 1); once; \
         proust_end(#kind, PROUST_NO_NUMBER), once = 0)

KEPT static void combined_loops(void)
{
    INTERVAL(combined)
    {
#pragma omp parallel for schedule(dynamic, 7) num_threads(THREADS)
        for (int i = 0; i < COUNT; i++)
            work(MINE(combined));
    }
    INTERVAL(combined_down)
    {
#pragma omp parallel for schedule(monotonic : dynamic, 4) num_threads(THREADS)
        for (long i = 3 * COUNT; i > 1; i -= 3)
            work(MINE(combined_down));
    }
    INTERVAL(guided)
    {
#pragma omp parallel for schedule(guided) num_threads(THREADS)
        for (int i = 0; i < 5 * COUNT; i += 5)
            work(MINE(guided));
    }
}

/* Two loops in one region, with different steps. */
KEPT static void separate_loops(void)
{
    INTERVAL(separate)
    {
#pragma omp parallel num_threads(THREADS)
        {
#pragma omp for schedule(dynamic, 3)
            for (int i = 0; i < 2 * COUNT - 1; i += 2)
                work(MINE(separate));
#pragma omp for schedule(monotonic : guided) nowait
            for (int i = COUNT; i > 0; i--)
                work(MINE(separate));
        }
    }
    INTERVAL(unsigned_down)
    {
#pragma omp parallel num_threads(THREADS)
#pragma omp for schedule(dynamic, 5)
        for (unsigned long i = ~0UL - 1; i > ~0UL - 1 - 4 * COUNT; i -= 4)
            work(MINE(unsigned_down));
    }
    INTERVAL(in_order)
    {
#pragma omp parallel num_threads(THREADS)
#pragma omp for schedule(dynamic, 2) ordered
        for (int i = 0; i < COUNT; i++) {
            work(MINE(in_order));
#pragma omp ordered
            sink++;
        }
    }
    INTERVAL(at_run_time)
    {
        omp_set_schedule(omp_sched_dynamic, 6);
#pragma omp parallel num_threads(THREADS)
#pragma omp for schedule(runtime)
        for (int i = 0; i < 7 * COUNT; i += 7)
            work(MINE(at_run_time));
    }
    INTERVAL(across)
    {
#pragma omp parallel num_threads(THREADS)
#pragma omp for schedule(dynamic, 1) ordered(1)
        for (int i = 0; i < 3 * COUNT; i += 3) {
            work(MINE(across));
#pragma omp ordered depend(source)
#pragma omp ordered depend(sink : i - 3)
        }
    }
    long sum = 0;
    INTERVAL(with_tasks)
    {
#pragma omp parallel num_threads(THREADS)
#pragma omp for schedule(dynamic, 4) reduction(task, + : sum)
        for (int i = 0; i < 2 * COUNT; i += 2) {
            work(MINE(with_tasks));
            sum += i;
        }
    }
    sink += (uint64_t)sum;
}

KEPT static void loops_of_tasks(void)
{
    INTERVAL(tasks)
    {
#pragma omp parallel num_threads(THREADS)
#pragma omp single
#pragma omp taskloop grainsize(7)
        for (int i = 3 * COUNT; i > 0; i -= 3)
            work(MINE(tasks));
    }
    INTERVAL(tasks_unsigned)
    {
#pragma omp parallel num_threads(THREADS)
#pragma omp single
#pragma omp taskloop num_tasks(11)
        for (unsigned long i = 0; i < 2 * COUNT; i += 2)
            work(MINE(tasks_unsigned));
    }
}

/* A static one, and one whose iterations the program counts itself, ten for each. */
KEPT static void other_loops(void)
{
    INTERVAL(at_once)
    {
#pragma omp parallel for schedule(static) num_threads(THREADS)
        for (int i = 0; i < COUNT; i++)
            work(MINE(at_once));
    }
    INTERVAL(counted)
    {
#pragma omp parallel for schedule(dynamic, 5) num_threads(THREADS)
        for (int i = 0; i < COUNT; i++)
            work(MINE(counted));
        proust_iterations(10 * COUNT);
    }
}

int main(void)
{
    combined_loops();
    separate_loops();
    loops_of_tasks();
    other_loops();
    printf("{\"count\":%d", COUNT);
#define PRINT(kind) printf(",\"" #kind "\":[%ld,%ld]", kind##_n[0][0], kind##_n[1][0]);
    KINDS(PRINT)
    printf("}\n");
    return 0;
}
