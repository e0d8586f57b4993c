/*
 * Intervals of which it is known what is done in them.
 * marked_parts CASE SECONDS
 *
 * elapsed    what the thread's time went into, by its own clocks and by Proust's
 * tight      ten million executions with nothing in them
 * mixed      a million short executions; some sleep for a moment, and a few for 5 ms
 * parts      intervals with computing, writing, sleeping, and a wait for a lock, in known amounts
 * changes    `steady` and `changed`, which takes as many times longer as a third argument says
 */
#include "proust.h"
#include "truth.h"
#include <pthread.h>
#include <string.h>

static double seconds;
static int printed;

/* Says how often and how long an interval was executed. */
static void say(const char *label, double executions, double time_s)
{
    printf("%s\"%s\":{\"executions\":%.0f,\"time_s\":%.9f}", printed++ ? "," : "{\"intervals\":{", label,
           executions, time_s);
}

KEPT static void compute(double for_s) { burn_cpu(for_s); }

static void sleep_s(double for_s)
{
    struct timespec time = {(time_t)for_s, (long)((for_s - (double)(time_t)for_s) * 1e9)};
    nanosleep(&time, NULL);
}

static void *writes_late(void *end)
{
    sleep_s(0.2 * seconds);
    char byte = 1;
    if (write(*(int *)end, &byte, 1) != 1)
        abort();
    return NULL;
}

/* Says what both clocks have. */
static void compare(const char *account, double own_s)
{
    printf("%s\"%s\":{\"own_s\":%.9f,\"elapsed_s\":%.9f}",
           printed++ ? "," : "{\"intervals\":{},\"elapsed\":{", account, own_s, proust_elapsed(account));
}

static void elapsed(void)
{
    int ends[2];
    pthread_t writer;
    char byte;
    if (pipe(ends) != 0)
        abort();
    double begin = wall();
    for (int n = 0; n < 200; n++)
        usleep((useconds_t)(1000 * seconds));
    sleep_s(0.1 * seconds);
    double waited = wall() - begin;
    pthread_create(&writer, NULL, writes_late, &ends[1]);
    begin = wall();
    if (read(ends[0], &byte, 1) != 1)
        abort();
    double in_io = wall() - begin;
    begin = wall();
    pthread_join(writer, NULL);
    waited += wall() - begin;
    compute(0.3 * seconds);
    begin = wall();
    proust_pause();
    compute(0.1 * seconds);
    proust_resume();
    double paused_s = wall() - begin;
    compare("wait", waited);
    compare("io", in_io);
    compare("paused", paused_s);
    compare("compute", thread_cpu());
    compare("cpu", thread_cpu());
    compare("user", thread_cpu() - proust_elapsed("system"));
    compare("mpi", 0);
    compare("barrier", -1);
}

static void tight(void)
{
    const int MANY = 10000000;
    double begin = wall();
    proust_begin("all", PROUST_NO_NUMBER);
    for (int n = 0; n < MANY; n++) {
        proust_begin("tight", PROUST_NO_NUMBER);
        proust_iterations(2);
        proust_end("tight", PROUST_NO_NUMBER);
    }
    proust_end("all", PROUST_NO_NUMBER);
    say("all", 1, wall() - begin);
    say("tight", MANY, 0);
}

static void mixed(void)
{
    const int MANY = 1000000;
    double begin = wall(), slept = 0;
    uint64_t x = kept_result;
    proust_begin("all", PROUST_NO_NUMBER);
    for (int n = 0; n < MANY; n++) {
        proust_begin("mixed", PROUST_NO_NUMBER);
        /* Seldom enough for each sleep to be recorded alone. */
        if (n % 4000 == 77 || n % 25000 == 55) {
            double since = wall();
            sleep_s(n % 4000 == 77 ? 100e-6 : 5e-3);
            slept += wall() - since;
        }
        BURN(x, 100);
        proust_end("mixed", PROUST_NO_NUMBER);
    }
    proust_end("all", PROUST_NO_NUMBER);
    kept_result = x;
    say("all", 1, wall() - begin);
    say("mixed", MANY, 0);
    printf("},\"slept_s\":%.9f,\"more\":{", slept);
}

static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t is_held;

static void *holds(void *nothing)
{
    pthread_mutex_lock(&contended);
    pthread_barrier_wait(&is_held);
    compute(0.3 * seconds);
    pthread_mutex_unlock(&contended);
    return nothing;
}

KEPT static double part_work(int number)
{
    double begin = thread_cpu();
    compute(0.1 * number * seconds);
    return thread_cpu() - begin;
}

static void parts(void)
{
    static char zeros[1000];
    double cpu[3], times[3];
    FILE *nothing = fopen("/dev/null", "w");
    int file = fileno(nothing);
    for (int n = 0; n < 3; n++) {
        double begin = wall();
        proust_begin("part", 5);
        cpu[n] = part_work(n + 1);
        for (int write_n = 0; write_n <= 9 * n; write_n++)
            if (write(file, zeros, sizeof zeros) != sizeof zeros)
                abort();
        for (int sleep_n = 0; sleep_n <= n; sleep_n++)
            sleep_s(0.02);
        proust_end("part", 5);
        times[n] = wall() - begin;
        /* Outside of all. */
        compute(0.05 * seconds);
        sleep_s(0.01);
    }
    pthread_t holder;
    pthread_barrier_init(&is_held, NULL, 2);
    pthread_create(&holder, NULL, holds, NULL);
    pthread_barrier_wait(&is_held);
    double begin = wall();
    proust_begin("locked", PROUST_NO_NUMBER);
    pthread_mutex_lock(&contended);
    pthread_mutex_unlock(&contended);
    proust_end("locked", PROUST_NO_NUMBER);
    double locked = wall() - begin;
    pthread_join(holder, NULL);
    say("part[5]", 3, times[0] + times[1] + times[2]);
    say("locked", 1, locked);
    printf("},\"parts\":[");
    for (int n = 0; n < 3; n++)
        printf("%s{\"cpu_s\":%.9f,\"time_s\":%.9f,\"writes\":%d,\"bytes\":%d,\"sleeps\":%d}",
               n ? "," : "", cpu[n], times[n], 9 * n + 1, 1000 * (9 * n + 1), n + 1);
    printf("],\"more\":{");
    fclose(nothing);
}

static double times_longer;

KEPT static void steady(void)
{
    proust_begin("steady", PROUST_NO_NUMBER);
    compute(seconds);
    proust_end("steady", PROUST_NO_NUMBER);
}

KEPT static void changed(void)
{
    proust_begin("changed", 3);
    compute(seconds * times_longer);
    proust_end("changed", 3);
}

static void changes(void)
{
    double begin = wall();
    steady();
    double middle = wall();
    changed();
    say("steady", 1, middle - begin);
    say("changed[3]", 1, wall() - middle);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"elapsed", elapsed}, {"tight", tight}, {"mixed", mixed},
                 {"parts", parts}, {"changes", changes}};
    seconds = seconds_argument(argc, argv, 2, 1);
    times_longer = seconds_argument(argc, argv, 3, 1);
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        if (argc > 1 && strcmp(argv[1], cases[n].name) == 0) {
            cases[n].run();
            printf("}}\n");
            return 0;
        }
    fprintf(stderr, "marked_parts CASE SECONDS\n");
    return 2;
}
