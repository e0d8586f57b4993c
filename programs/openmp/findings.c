/*
 * Parallel regions with one fault each that a finding is about, and the same ones repaired.
 * findings [SECONDS] CASE            the program with the fault
 * findings [SECONDS] CASE-repaired   the same work without it
 *
 * A case is named for its kind of finding. Prints wall and CPU seconds; of threads that sleep at barriers
 * also how often they waited, and how long until they went on when all had come.
 */
#define _GNU_SOURCE
#include "../truth.h"
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

static int processors;
static double seconds, until;
static volatile int over;

/* Whether the program used so much processor time, and it did not take too long on a busy machine. */
static int is_enough(void) { return process_cpu() >= seconds || wall() >= until + 4 * seconds; }

/* At the end of a function: the call before it is no jump, so that the function is on the path. */
#define STAYS __asm__ volatile("")

/* Some tenths of a microsecond. */
#define A_LITTLE 150

KEPT static uint64_t a_little(uint64_t x)
{
    BURN(x, A_LITTLE);
    return x;
}

/*
 * omp-deep-construct: a loop of a tenth of a microsecond is divided again and again; repaired, the loop
 * around it is. A barrier takes about that long where two threads share a core, and more elsewhere: so the
 * fault costs on every machine.
 */
#define ROWS 20000
#define ELEMENTS 4
static uint64_t table[ROWS][ELEMENTS];

KEPT static uint64_t hardly_anything(uint64_t x)
{
    BURN(x, 10);
    return x;
}

KEPT static void divide_inner_loop(void)
{
    for (int row = 0; row < ROWS / 20; row++) {
#pragma omp for schedule(static)
        for (int i = 0; i < ELEMENTS; i++)
            table[row][i] = hardly_anything(table[row][i]);
    }
}

KEPT static void divide_outer_loop(void)
{
#pragma omp for schedule(static)
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < 8 * ELEMENTS; i++)
            table[row][i % ELEMENTS] = hardly_anything(table[row][i % ELEMENTS]);
}

/* All of a team until the time is over: one thread looks at the clock, and all see the same. */
static void again_and_again(void (*step)(void))
{
    over = 0;
#pragma omp parallel
    while (!over) {
        step();
#pragma omp barrier
#pragma omp single
        over = is_enough();
    }
}

static void deep_construct(void) { again_and_again(divide_inner_loop); }
static void deep_construct_repaired(void) { again_and_again(divide_outer_loop); }

/* omp-uneven-loop: the later iterations are the longer ones; repaired, they are handed out as threads come
   for them. */
#define PIECES 64

KEPT static void units(int count)
{
    uint64_t x = kept_result;
    BURN(x, (uint64_t)count * UNIT);
    kept_result = x;
}

KEPT static void divide_by_count(void)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < PIECES; i++)
        units(i);
    STAYS;
}

KEPT static void divide_on_demand(void)
{
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < PIECES; i++)
        units(PIECES - 1 - i);
    STAYS;
}

static void uneven_loop(void)
{
    while (!is_enough())
        divide_by_count();
}

static void uneven_loop_repaired(void)
{
    while (!is_enough())
        divide_on_demand();
}

/* omp-large-chunks: three quarters of the iterations are one chunk; repaired, they are handed out one by
   one. */
KEPT static void two_chunks(void)
{
#pragma omp parallel for schedule(dynamic, PIECES * 3 / 4)
    for (int i = 0; i < PIECES; i++)
        units(PIECES / 2);
    STAYS;
}

static void large_chunks(void)
{
    while (!is_enough())
        two_chunks();
}

/* omp-small-chunks: iterations of some nanoseconds are handed out one by one; repaired, a thousand at a time.
   */
#define NUMBERS 200000
static unsigned char numbers[NUMBERS];

KEPT static void one_at_a_time(void)
{
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = (unsigned char)(numbers[i] * 5 + i);
    STAYS;
}

KEPT static void many_at_a_time(void)
{
#pragma omp parallel for schedule(dynamic, 20000)
    for (int i = 0; i < NUMBERS; i++) {
        for (int j = 0; j < 100; j++)
            numbers[i] = (unsigned char)((numbers[i] ^ j) * 5 + i);
    }
    STAYS;
}

static void small_chunks(void)
{
    while (!is_enough())
        one_at_a_time();
}

static void small_chunks_repaired(void)
{
    while (!is_enough())
        many_at_a_time();
}

/* omp-hot-critical: each iteration adds to a sum that all share; repaired, each thread has its own until the
   end. */
KEPT static uint64_t add_in_critical(void)
{
    uint64_t sum = 0;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 20000; i++) {
#pragma omp critical
        sum += a_little((uint64_t)i);
    }
    return sum;
}

KEPT static uint64_t add_by_reduction(void)
{
    uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < 20000; i++)
        sum += a_little((uint64_t)i);
    return sum;
}

static void hot_critical(void)
{
    while (!is_enough())
        kept_result += add_in_critical();
}

static void hot_critical_repaired(void)
{
    while (!is_enough())
        kept_result += add_by_reduction();
}

/* omp-hot-single: all threads go through the same list and settle for each element who works on it; repaired,
   the elements are divided between them. */
KEPT static uint64_t settle_for_each(void)
{
    uint64_t sum = 0;
#pragma omp parallel reduction(+ : sum)
    for (int i = 0; i < 20000; i++) {
#pragma omp single nowait
        sum += (uint64_t)i * 7919;
    }
    return sum;
}

static void hot_single(void)
{
    while (!is_enough())
        kept_result += settle_for_each();
}

/* omp-nested-teams: each thread of a team has a team of its own; repaired, it works alone. */
KEPT static void inner_region(int threads)
{
#pragma omp parallel num_threads(threads)
    burn_cpu(0.04 / threads);
    STAYS;
}

static void nested(int threads)
{
    omp_set_max_active_levels(2);
    while (!is_enough()) {
#pragma omp parallel
        inner_region(threads);
    }
}

static void nested_teams(void) { nested(2 * processors); }
static void nested_teams_repaired(void) { nested(1); }

/* omp-spinning-waits: who waits for others keeps its processor, which other threads would need; repaired, it
   sleeps. */
static void *other_work(void *argument)
{
    while (!is_enough())
        burn_cpu(0.005);
    return argument;
}

static void beside_others(void)
{
    pthread_t others[64];
    int count = processors < 64 ? processors : 64;
    for (int i = 0; i < count; i++)
        pthread_create(&others[i], NULL, other_work, NULL);
    over = 0;
#pragma omp parallel
    while (!over) {
#pragma omp single
        {
            burn_cpu(0.004);
            over = is_enough();
        }
#pragma omp barrier
    }
    for (int i = 0; i < count; i++)
        pthread_join(others[i], NULL);
}

/* omp-sleeping-waits: threads that wait a moment go to sleep, and have to be woken; repaired, they look
   again. */
#define SHORT_LOOPS 100
#define MOST_THREADS 256
static struct {
    double came[2], held_up_s;
    long waits;
    char apart[128];
} of_thread[MOST_THREADS];

/* By turns in two places: who is late in leaving a barrier still reads when others came to it. */
static double last_came(int threads, int turn)
{
    double last = 0;
    for (int i = 0; i < threads; i++)
        if (of_thread[i].came[turn] > last)
            last = of_thread[i].came[turn];
    return last;
}

KEPT static void short_loops(void)
{
    int me = omp_get_thread_num(), threads = omp_get_num_threads();
    for (int i = 0; i < SHORT_LOOPS; i++) {
        units(1);
        of_thread[me].came[i % 2] = wall();
#pragma omp barrier
        of_thread[me].held_up_s += wall() - last_came(threads, i % 2);
    }
    of_thread[me].waits += SHORT_LOOPS;
}

static void sleeping_waits(void) { again_and_again(short_loops); }

/*
 * omp-serial-part: between two regions one thread does as much alone as all of them in a region; repaired, in
 * a region, too.
 */
KEPT static void smooth(void)
{
    for (int i = 0; i < 100; i++)
        units(1);
    STAYS;
}

KEPT static void smooth_divided(void)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 100; i++)
        units(1);
}

static void time_loop(void (*between)(void))
{
    while (!is_enough()) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < 200; i++)
            units(1);
        between();
    }
}

static void serial_part(void) { time_loop(smooth); }
static void serial_part_repaired(void) { time_loop(smooth_divided); }

/* omp-team-of-one: a loop is divided where there is nobody to divide it among; repaired, there is. */
KEPT static void orphaned_loop(void)
{
#pragma omp for schedule(static)
    for (int i = 0; i < 40; i++)
        units(10);
    STAYS;
}

static void outside(void)
{
    /* The program does have a team. */
#pragma omp parallel
    burn_cpu(0.02);
    while (!is_enough())
        orphaned_loop();
}

static void inside(void)
{
#pragma omp parallel
    burn_cpu(0.02);
    while (!is_enough()) {
#pragma omp parallel
        orphaned_loop();
    }
}

/* omp-small-tasks: a task for each of very many short pieces of work; repaired, one for many. */
KEPT static void tasks_of(int pieces)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 200000; i += pieces) {
#pragma omp task firstprivate(i)
        for (int j = 0; j < pieces; j++)
            kept_result += a_little((uint64_t)(i + j));
    }
    STAYS;
}

static void small_tasks(void)
{
    while (!is_enough())
        tasks_of(1);
}

static void small_tasks_repaired(void)
{
    while (!is_enough())
        tasks_of(5000);
}

/* omp-serial-tasks: a condition has each task executed by the thread that makes it; repaired, it holds. */
KEPT static void tasks_if(int there_are)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 40; i++) {
#pragma omp task if(there_are > 30) firstprivate(i)
        units(i % 2 + 2);
    }
    STAYS;
}

static void serial_tasks(void)
{
    while (!is_enough())
        tasks_if(20);
}

static void tasks_of_all(void)
{
    while (!is_enough())
        tasks_if(40);
}

/* A case, what its fault and its repair are, and how each wants its threads to wait. */
static const struct {
    const char *name;
    void (*fault)(void), (*repaired)(void);
    const char *policy, *repaired_policy;
} cases[] = {
    { "omp-deep-construct", deep_construct, deep_construct_repaired, NULL, NULL },
    { "omp-uneven-loop", uneven_loop, uneven_loop_repaired, NULL, NULL },
    { "omp-large-chunks", large_chunks, uneven_loop_repaired, NULL, NULL },
    { "omp-small-chunks", small_chunks, small_chunks_repaired, NULL, NULL },
    { "omp-hot-critical", hot_critical, hot_critical_repaired, NULL, NULL },
    { "omp-hot-single", hot_single, hot_critical_repaired, NULL, NULL },
    { "omp-nested-teams", nested_teams, nested_teams_repaired, NULL, NULL },
    { "omp-spinning-waits", beside_others, beside_others, "active", "passive" },
    { "omp-sleeping-waits", sleeping_waits, sleeping_waits, "passive", "active" },
    { "omp-serial-part", serial_part, serial_part_repaired, NULL, NULL },
    { "omp-team-of-one", outside, inside, NULL, NULL },
    { "omp-small-tasks", small_tasks, small_tasks_repaired, NULL, NULL },
    { "omp-serial-tasks", serial_tasks, tasks_of_all, NULL, NULL },
};

/* The runtime reads how to wait when it is loaded. */
static void start_with_policy(const char *policy, char **argv)
{
    const char *now = getenv("OMP_WAIT_POLICY");
    if (!policy || (now && strcmp(now, policy) == 0))
        return;
    setenv("OMP_WAIT_POLICY", policy, 1);
    execv("/proc/self/exe", argv);
    exit(2);
}

int main(int argc, char **argv)
{
    seconds = seconds_argument(argc, argv, 1, 1);
    const char *wanted = argc > 2 ? argv[2] : "omp-uneven-loop";
    const char *ending = strstr(wanted, "-repaired");
    size_t length = ending ? (size_t)(ending - wanted) : strlen(wanted);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strlen(cases[i].name) != length || strncmp(cases[i].name, wanted, length) != 0)
            continue;
        start_with_policy(ending ? cases[i].repaired_policy : cases[i].policy, argv);
        processors = omp_get_num_procs() < MOST_THREADS ? omp_get_num_procs() : MOST_THREADS;
        omp_set_dynamic(0);
        omp_set_num_threads(processors);
        double began = wall();
        until = began + seconds;
        (ending ? cases[i].repaired : cases[i].fault)();
        double wall_s = wall() - began, held_up_s = 0;
        long waits = 0;
        for (int i = 0; i < MOST_THREADS; i++) {
            held_up_s += of_thread[i].held_up_s;
            waits += of_thread[i].waits;
        }
        printf(
            "{\"program\":\"openmp-findings\",\"case\":\"%s\",\"wall_s\":%.6f,\"cpu_s\":%.6f,\"waits\":%ld,"
            "\"held_up_s\":%.6f}\n",
            wanted, wall_s, process_cpu(), waits, held_up_s);
        return 0;
    }
    fprintf(stderr, "findings: no case %s\n", wanted);
    return 2;
}
