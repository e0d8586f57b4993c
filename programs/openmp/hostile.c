/* OpenMP in ways that a measurement must survive. Argument 1: which. Each checks itself; 0 = all went as
   without a measurement. */
#include "../truth.h"
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* A child that is forked inside a region goes on alone, and opens a region of one. */
static int fork_in_region(void)
{
    int bad = 0;
#pragma omp parallel num_threads(2) reduction(+ : bad)
    {
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            pid_t child = fork();
            if (child == 0) {
                burn_cpu(0.05);
                _exit(7);
            }
            int status = 0;
            bad += waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7;
        } else {
            burn_cpu(0.05);
        }
    }
    return bad;
}

/* A worker ends the process. */
static int exit_from_worker(void)
{
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 1) {
            burn_cpu(0.1);
            exit(0);
        }
#pragma omp barrier
    }
    return 1;
}

static void *opens_regions(void *sum)
{
    long *mine = sum;
    for (int i = 0; i < 200; i++) {
#pragma omp parallel num_threads(2) reduction(+ : mine[:1])
        mine[0] += 1;
    }
    burn_cpu(0.05);
    return NULL;
}

/* Threads that the program made itself each have regions of their own. */
static int several_threads(void)
{
    pthread_t threads[4];
    long sums[4] = { 0 };
    int bad = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, opens_regions, &sums[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        bad += sums[i] != 400;
    }
    return bad;
}

/* Teams of changing size, and of one. */
static int changing(void)
{
    int bad = 0;
    for (int i = 0; i < 2000; i++) {
        int wanted = 1 + i % 5, seen = 0;
        omp_set_dynamic(0);
        omp_set_num_threads(wanted);
#pragma omp parallel reduction(+ : seen)
        seen += 1;
        bad += seen != wanted;
    }
    burn_cpu(0.05);
    return bad;
}

/* Regions inside regions, deeper than anybody needs, and errno through all of it. */
static int deep(int level)
{
    int bad = 0;
    if (level == 0) {
        errno = 77;
#pragma omp critical(innermost)
        burn_cpu(0.0001);
        return errno != 77;
    }
#pragma omp parallel num_threads(1) reduction(+ : bad)
    bad += deep(level - 1);
    return bad;
}

/* Tasks that make tasks, wait for them inside, and are left undone until a barrier. */
static long fibonacci(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a) if (n > 5)
    a = fibonacci(n - 1);
#pragma omp task shared(b) if (n > 5)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

struct big {
    char bytes[3000];
};

static int many_tasks(void)
{
    long result = 0, sum = 0;
    struct big big;
    memset(&big, 3, sizeof big);
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        {
            result = fibonacci(18);
#pragma omp taskloop grainsize(7) reduction(+ : sum)
            for (int i = 0; i < 1000; i++)
                sum += i;
#pragma omp taskgroup
            {
                /* More data than is followed. */
#pragma omp task firstprivate(big) shared(sum)
#pragma omp atomic
                sum += big.bytes[2999];
            }
        }
        /* Done in the barrier at the region's end. */
#pragma omp single nowait
        for (int i = 0; i < 100; i++) {
#pragma omp task shared(sum)
            {
#pragma omp atomic
                sum += 1;
                burn_cpu(0.0005);
            }
        }
    }
    return result != 2584 || sum != 499500 + 3 + 100;
}

/* So many tasks that do next to nothing. */
static int very_many_tasks(long tasks)
{
    long sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (long i = 0; i < tasks; i++) {
#pragma omp task shared(sum)
#pragma omp atomic
        sum += 1;
    }
    return sum != tasks;
}

/* Sections, copyprivate, ordered, cancellation, locks that nest. */
static int constructs(void)
{
    long sum = 0, order = 0, bad = 0;
    omp_nest_lock_t lock;
    omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(2) reduction(+ : bad)
    {
        long got = -1;
#pragma omp single copyprivate(got)
        got = 42;
        bad += got != 42;
#pragma omp sections
        {
#pragma omp section
#pragma omp atomic
            sum += 1;
#pragma omp section
#pragma omp atomic
            sum += 2;
#pragma omp section
#pragma omp atomic
            sum += 4;
        }
#pragma omp for ordered schedule(dynamic, 3)
        for (int i = 0; i < 100; i++) {
#pragma omp ordered
            {
                bad += order != i;
                order++;
            }
        }
        for (int i = 0; i < 50; i++) {
            omp_set_nest_lock(&lock);
            omp_set_nest_lock(&lock);
            sum += 10;
            omp_unset_nest_lock(&lock);
            omp_unset_nest_lock(&lock);
        }
#pragma omp for schedule(guided)
        for (int i = 0; i < 1000; i++) {
#pragma omp cancel for if (i == 500)
        }
    }
    omp_destroy_nest_lock(&lock);
    burn_cpu(0.05);
    return bad != 0 || sum != 7 + 2 * 50 * 10;
}

/* Reductions over tasks: of a region, of a loop, of sections, of a group; and a scan. */
static int reductions(void)
{
    long bad = 0;
    for (int round = 0; round < 50; round++) {
        long region = 0, loop = 0, sections = 0, group = 0;
#pragma omp parallel num_threads(2) reduction(task, + : region)
#pragma omp single
        for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : region)
            region += i;
        }
#pragma omp parallel num_threads(2)
        {
#pragma omp for reduction(task, + : loop) schedule(dynamic)
            for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : loop)
                loop += i;
            }
#pragma omp sections reduction(task, + : sections)
            {
#pragma omp section
                {
#pragma omp task in_reduction(+ : sections)
                    sections += 1;
                }
#pragma omp section
                sections += 2;
            }
#pragma omp single
#pragma omp taskgroup task_reduction(+ : group)
            for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : group)
                group += i;
            }
        }
        bad += region != 45 || loop != 45 || sections != 3 || group != 45;
    }
    int given[64], until[64], sum = 0;
    for (int i = 0; i < 64; i++)
        given[i] = i;
#pragma omp parallel for num_threads(2) reduction(inscan, + : sum)
    for (int i = 0; i < 64; i++) {
        sum += given[i];
#pragma omp scan inclusive(sum)
        until[i] = sum;
    }
    for (int i = 0; i < 64; i++)
        bad += until[i] != i * (i + 1) / 2;
    burn_cpu(0.05);
    return bad != 0;
}

static atomic_int tasks_are_done;

/* An exec of what is no program fails after everything has been made ready for it. */
static void *execs_in_vain(void *path)
{
    char *arguments[] = {path, NULL};
    while (!tasks_are_done) {
        execve(path, arguments, environ);
        for (volatile int i = 0; i < 20000; i++)
            ;
    }
    return NULL;
}

/* Fills a part of the stack, does something of uneven length, and looks whether all is as it was. */
KEPT static int keeps_its_frame(int depth, int length)
{
    volatile uint64_t words[64];
    int bad = 0;
    for (int i = 0; i < 64; i++)
        words[i] = 0x5c5c5c5c5c5c5c5c;
    for (volatile int i = 0; i < length; i++)
        ;
    if (depth > 0)
        bad += keeps_its_frame(depth - 1, length);
    else {
#pragma omp task if (0)
        for (volatile int i = 0; i < length; i++)
            ;
#pragma omp taskyield
    }
    for (int i = 0; i < 64; i++)
        bad += words[i] != 0x5c5c5c5c5c5c5c5c;
    return bad;
}

/* Waits in which tasks are done, at stack depths of all kinds, while exec after exec of another thread
   stops the measurement and takes that back: a task's end may meet a begin that was not seen, and a wait
   that is long over. */
static int tasks_while_execs_fail(void)
{
    char path[] = "/tmp/no_program.XXXXXX";
    int file = mkstemp(path), bad = 0;
    pthread_t thread;
    if (file < 0 || fchmod(file, 0700) != 0 || write(file, "neither\0", 8) != 8)
        return 1;
    close(file);
    tasks_are_done = 0;
    pthread_create(&thread, NULL, execs_in_vain, path);
    double until_s = wall() + 1.0;
#pragma omp parallel num_threads(2) reduction(+ : bad)
    for (int round = 0; round < 40000 && wall() < until_s; round++) {
        for (int i = 0; i < 4; i++) {
#pragma omp task firstprivate(i) shared(bad)
            {
                int wrong = keeps_its_frame((round + i) % 7, 40 + 97 * (i + round % 5));
                if (wrong) {
#pragma omp atomic
                    bad += wrong;
                }
            }
        }
        bad += keeps_its_frame(round % 11, 10);
#pragma omp taskwait
        bad += keeps_its_frame((round + 3) % 5, 10);
    }
    tasks_are_done = 1;
    pthread_join(thread, NULL);
    unlink(path);
    return bad;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "constructs";
    int bad = 99;
    if (!strcmp(name, "fork"))
        bad = fork_in_region();
    else if (!strcmp(name, "exit"))
        bad = exit_from_worker();
    else if (!strcmp(name, "threads"))
        bad = several_threads();
    else if (!strcmp(name, "changing"))
        bad = changing();
    else if (!strcmp(name, "deep"))
        bad = deep(40);
    else if (!strcmp(name, "tasks"))
        bad = many_tasks();
    else if (!strcmp(name, "tasks-execs"))
        bad = tasks_while_execs_fail();
    else if (!strcmp(name, "very-many-tasks"))
        bad = very_many_tasks(argc > 2 ? atol(argv[2]) : 2000000);
    else if (!strcmp(name, "constructs"))
        bad = constructs();
    else if (!strcmp(name, "reductions"))
        bad = reductions();
    printf("{\"bad\":%d}\n", bad);
    return bad != 0;
}
