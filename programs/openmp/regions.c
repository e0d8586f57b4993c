/*
 * Parallel regions whose losses are known. Argument 1: which; argument 2: seconds of work of one thread;
 * argument 3: threads.
 *
 * Each thread reads its clocks where it begins and ends to work, so the program knows what everybody worked
 * and waited: `work_s` and `work_cpu_s` are the sums over all threads inside regions, `wait_s` what they
 * waited there for others, `lock_s` for a holder, `region_s` the time of the opener from before to behind
 * its regions, `serial_s` outside of them, `narrow_s` that of regions with one thread only.
 */
#include "../truth.h"
#include <omp.h>
#include <string.h>

#define MOST 64

static struct {
    double work, work_cpu, wait, lock, parts[5];
    char space[56];
} threads[MOST];

static double region_s, narrow_s;
static int team;

/* Works for so many seconds of processor time; what it took by both clocks is the thread's. */
KEPT static void work_for(double seconds)
{
    int me = omp_get_thread_num();
    double begin = wall(), cpu = thread_cpu();
    burn_cpu(seconds);
    threads[me].work += wall() - begin;
    threads[me].work_cpu += thread_cpu() - cpu;
}

/* As one of five parts. */
KEPT static void work_in(int part, double seconds)
{
    double *worked = &threads[omp_get_thread_num()].work, before = *worked;
    work_for(seconds);
    threads[omp_get_thread_num()].parts[part] += *worked - before;
}

static void wait_until_all_came(double *since)
{
    threads[omp_get_thread_num()].wait += wall() - *since;
}

/* The first of two threads works three times as long as the second: idle for two thirds of the region. */
KEPT static void imbalance(double seconds)
{
    double end[MOST] = { 0 };
    double begin = wall();
#pragma omp parallel
    {
        int me = omp_get_thread_num();
#pragma omp for schedule(static, 1) nowait
        for (int i = 0; i < team; i++)
            work_for(i == 0 ? seconds : seconds / 3);
        end[me] = wall();
    }
    double over = wall();
    region_s += over - begin;
    for (int i = 0; i < team; i++)
        threads[i].wait += over - end[i];
}

/* The same time and again: who waited gets work anew. */
KEPT static void repeated(double seconds)
{
    for (int i = 0; i < 6; i++)
        imbalance(seconds / 6);
}

/* The same work in pieces, which are handed out as threads ask for them. */
KEPT static void repaired(double seconds)
{
    double begin = wall();
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < 64; i++)
            work_for((i < 32 ? seconds : seconds / 3) / 32);
    }
    region_s += wall() - begin;
}

/* All work is done in a critical section. */
KEPT static void critical_section(double seconds)
{
    double begin = wall();
#pragma omp parallel
    {
        for (int i = 0; i < 20; i++) {
            double since = wall();
#pragma omp critical(the_section)
            {
                threads[omp_get_thread_num()].lock += wall() - since;
                work_for(seconds / 20 / team);
            }
        }
    }
    region_s += wall() - begin;
}

/* As before, with a lock. */
KEPT static void lock_of_omp(double seconds)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    double begin = wall();
#pragma omp parallel
    {
        for (int i = 0; i < 20; i++) {
            double since = wall();
            omp_set_lock(&lock);
            threads[omp_get_thread_num()].lock += wall() - since;
            work_for(seconds / 20 / team);
            omp_unset_lock(&lock);
        }
    }
    region_s += wall() - begin;
    omp_destroy_lock(&lock);
}

/* And with one that each thread tries to get again and again. */
KEPT static void tried_lock(double seconds)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    double begin = wall();
#pragma omp parallel
    {
        for (int i = 0; i < 20; i++) {
            double since = wall();
            while (!omp_test_lock(&lock))
                ;
            threads[omp_get_thread_num()].lock += wall() - since;
            work_for(seconds / 20 / team);
            omp_unset_lock(&lock);
        }
    }
    region_s += wall() - begin;
    omp_destroy_lock(&lock);
}

/* Iterations that end in order. */
KEPT static void ordered_loop(double seconds)
{
    double begin = wall();
#pragma omp parallel
    {
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < 10 * team; i++) {
            double since = wall();
#pragma omp ordered
            {
                threads[omp_get_thread_num()].lock += wall() - since;
                work_for(seconds / 10 / team);
            }
        }
    }
    region_s += wall() - begin;
}

/* Iterations of which each waits for the one before: nobody works at once. */
KEPT static void doacross(double seconds)
{
    double begin = wall();
#pragma omp parallel
    {
#pragma omp for ordered(1) schedule(static, 1)
        for (int i = 0; i < 10 * team; i++) {
            double since = wall();
#pragma omp ordered depend(sink : i - 1)
            wait_until_all_came(&since);
            work_for(seconds / 10 / team);
#pragma omp ordered depend(source)
        }
    }
    region_s += wall() - begin;
}

/* One thread works, the others wait for it. */
KEPT static void single_worker(double seconds)
{
    double end[MOST] = { 0 };
    double begin = wall();
#pragma omp parallel
    {
        for (int i = 0; i < 10; i++) {
            double since = wall();
#pragma omp single
            {
                work_for(seconds / 10);
                since = wall();
            }
            wait_until_all_came(&since);
        }
        end[omp_get_thread_num()] = wall();
    }
    double over = wall();
    region_s += over - begin;
    for (int i = 0; i < team; i++)
        threads[i].wait += over - end[i];
}

/* Regions inside a region: each of the outer threads opens one of two. */
KEPT static void nested(double seconds)
{
    omp_set_max_active_levels(2);
    double begin = wall();
    double worked = 0, worked_cpu = 0;
#pragma omp parallel num_threads(2) reduction(+ : worked, worked_cpu)
    {
#pragma omp parallel num_threads(2) reduction(+ : worked, worked_cpu)
        {
            double since = wall(), cpu = thread_cpu();
            burn_cpu(seconds / 2);
            worked += wall() - since;
            worked_cpu += thread_cpu() - cpu;
        }
    }
    threads[0].work += worked;
    threads[0].work_cpu += worked_cpu;
    region_s += wall() - begin;
}

/* One thread makes tasks, all do them. */
KEPT static void tasks(double seconds)
{
    double begin = wall();
#pragma omp parallel
    {
#pragma omp single
        {
            for (int i = 0; i < 100; i++) {
#pragma omp task firstprivate(i)
                work_for(seconds * team * (i % 2 ? 1.5 : 0.5) / 100);
            }
#pragma omp taskwait
        }
    }
    region_s += wall() - begin;
}

/* Three fifths of the time one thread works alone. */
INLINED void phases(double seconds, int count)
{
    for (int i = 0; i < count; i++) {
        burn_cpu(seconds * 0.6 / count);
        double begin = wall();
#pragma omp parallel
        work_for(seconds * 0.4 / count);
        region_s += wall() - begin;
    }
}

KEPT static void serial(double seconds) { phases(seconds, 5); }
KEPT static void alternating(double seconds) { phases(seconds, 40); }

/* One region around a loop over time, with five loops of known cost: 5, 4, 3, 2 and 1 parts. */
KEPT static void orphaned(double seconds, int loop)
{
    (void)loop;
#pragma omp for schedule(static, 1)
    for (int i = 0; i < team; i++)
        work_in(4, seconds);
}

KEPT static void five_loops(double seconds)
{
    double part = seconds / 15 / 10;
    double begin = wall();
#pragma omp parallel
    for (int step = 0; step < 10; step++) {
#pragma omp for schedule(static, 1)
        for (int i = 0; i < team; i++)
            work_in(0, 5 * part);
#pragma omp for schedule(static, 1)
        for (int i = 0; i < team; i++)
            work_in(1, 4 * part);
#pragma omp for schedule(static, 1)
        for (int i = 0; i < team; i++)
            work_in(2, 3 * part);
#pragma omp for schedule(static, 1)
        for (int i = 0; i < team; i++)
            work_in(3, 2 * part);
        orphaned(part, step);
    }
    region_s += wall() - begin;
    /* Outside of any region the same loop is done by one thread. */
    orphaned(0, 0);
}

/* Very many short regions and barriers: what they take is not known, only how many there are. */
KEPT static void many(double seconds)
{
    long regions = (long)(seconds * 1e5);
    volatile long sum = 0;
    double begin = wall();
    for (long i = 0; i < regions; i++) {
#pragma omp parallel
        {
#pragma omp barrier
#pragma omp critical
            sum = sum + 1;
        }
    }
    region_s += wall() - begin;
    if (sum != regions * team)
        printf("wrong sum %ld\n", sum);
}

/* Of very many barriers a few are waited at for long, and a critical section follows each of those. */
KEPT static void seldom_late(double seconds)
{
    double begin = wall();
#pragma omp parallel
    {
        for (int step = 0; step < (int)(seconds / 0.002); step++) {
            double since = wall();
            for (int i = 0; i < 400; i++) {
                if (i == 399) {
                    wait_until_all_came(&since);
                    if (omp_get_thread_num() == 0)
                        work_for(0.0017);
                    since = wall();
                }
#pragma omp barrier
            }
            wait_until_all_came(&since);
            since = wall();
#pragma omp critical(behind_a_barrier)
            {
                threads[omp_get_thread_num()].lock += wall() - since;
                work_for(0.0003 / team);
            }
        }
    }
    region_s += wall() - begin;
}

/* Both threads work for half of the time; for the other half one of them does, in regions of one thread, with
 * a barrier at which nobody is waited for: of so much work each. */
KEPT static void teams_of_one(double seconds, int units)
{
    double begin = wall();
#pragma omp parallel
    work_for(seconds / 2);
    double alone = wall();
    while (wall() - alone < seconds / 2) {
#pragma omp parallel num_threads(1)
        {
            uint64_t x = 1;
            BURN(x, units * UNIT);
            kept_result = x;
#pragma omp barrier
        }
    }
    narrow_s += wall() - alone;
    region_s += wall() - begin;
}

KEPT static void short_teams_of_one(double seconds)
{
    teams_of_one(seconds, 1);
}

KEPT static void long_teams_of_one(double seconds)
{
    teams_of_one(seconds, 1000);
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        void (*run)(double);
    } all[] = {
        { "imbalance", imbalance }, { "repaired", repaired },     { "critical", critical_section },
        { "lock", lock_of_omp },    { "tried-lock", tried_lock }, { "ordered", ordered_loop },
        { "single", single_worker },
        { "nested", nested },       { "tasks", tasks },           { "serial", serial },
        { "alternating", alternating },
        { "five-loops", five_loops }, { "many", many }, { "seldom-late", seldom_late },
        { "doacross", doacross }, { "repeated", repeated },
        { "short-teams-of-one", short_teams_of_one }, { "long-teams-of-one", long_teams_of_one },
    };
    const char *name = argc > 1 ? argv[1] : "imbalance";
    double seconds = seconds_argument(argc, argv, 2, 0.5);
    team = argc > 3 ? atoi(argv[3]) : 2;
    omp_set_dynamic(0);
    omp_set_num_threads(team);
    /* What the runtime does at its start is no part of any region. */
    (void)omp_get_max_threads();
    double begin = wall();
    int found = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!strcmp(name, all[i].name)) {
            all[i].run(seconds);
            found = 1;
        }
    }
    if (!found)
        return 2;
    double total = wall() - begin, work = 0, cpu = 0, waited = 0, lock = 0, parts[5] = { 0 };
    for (int i = 0; i < MOST; i++) {
        work += threads[i].work;
        cpu += threads[i].work_cpu;
        waited += threads[i].wait;
        lock += threads[i].lock;
        for (int part = 0; part < 5; part++)
            parts[part] += threads[i].parts[part];
    }
    printf("{\"total_s\":%.6f,\"region_s\":%.6f,\"serial_s\":%.6f,\"work_s\":%.6f,\"work_cpu_s\":%.6f,"
           "\"wait_s\":%.6f,\"lock_s\":%.6f,\"narrow_s\":%.6f,\"parts_s\":[%.6f,%.6f,%.6f,%.6f,%.6f],"
           "\"threads\":%d}\n",
           total, region_s, total - region_s, work, cpu, waited, lock, narrow_s, parts[0], parts[1], parts[2],
           parts[3], parts[4], team);
    return 0;
}
