/*
 * Programs whose use of the processors a user can tell at a glance.
 * ledger [SECONDS] CASE
 * CASE: busy; burst [SHARE of the time]; pool; server [SHARE of the time]; sleepers; producers.
 *
 * Prints when each thread was active by CLOCK_MONOTONIC: working, or queueing for a processor to work on.
 * `active` lists these times as pairs of begin and end, and `began` and `ended` are those of the program:
 * what the processors were used for follows from them alone.
 */
#include "truth.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>

enum { THREADS = 256, TIMES = 4096 };

static struct {
    double begin, end;
} active[TIMES];
static int active_count;
static double began, seconds;

/* The calling thread had something to do since then. Returns until when. */
static double was_active(double since)
{
    int place = __atomic_fetch_add(&active_count, 1, __ATOMIC_SEQ_CST);
    if (place >= TIMES)
        exit(2);
    active[place].begin = since;
    return active[place].end = wall();
}

/* There was something to do since then; on a busy machine a thread learns late of it. */
KEPT static double work_since(double since, double cpu_s)
{
    burn_cpu(cpu_s);
    return was_active(since);
}

static void work(double cpu_s) { work_since(wall(), cpu_s); }

static void sleep_until(double when)
{
    struct timespec until = {(time_t)when, (long)((when - (double)(time_t)when) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        continue;
}

static pthread_t threads[THREADS];
static int threads_count;

static void start(void *(*run)(void *))
{
    void *number = (void *)(intptr_t)threads_count;
    if (threads_count == THREADS || pthread_create(&threads[threads_count++], NULL, run, number) != 0)
        exit(2);
}

static void join_all(void)
{
    for (int i = 0; i < threads_count; i++)
        pthread_join(threads[i], NULL);
}

/* busy: one thread that works. */
static void busy(double share)
{
    (void)share;
    work(seconds);
}

/* burst: 64 threads at work, for that share of the time on two processors. Before that and after it main
   works. */
enum { BURST = 64 };
static struct {
    sem_t begins;
    double begun;
} turns[BURST];
static double each_s;

static void *burst_out(void *argument)
{
    int mine = (int)(intptr_t)argument;
    while (sem_wait(&turns[mine].begins) != 0)
        continue;
    burn_cpu(each_s);
    was_active(turns[mine].begun);
    return NULL;
}

static void burst(double share)
{
    each_s = seconds * share * 2 / BURST;
    for (int i = 0; i < BURST; i++) {
        sem_init(&turns[i].begins, 0, 0);
        start(burst_out);
    }
    burn_cpu(seconds / 2);
    for (int i = 0; i < BURST; i++) {
        turns[i].begun = wall();
        sem_post(&turns[i].begins);
    }
    was_active(began);
    join_all();
    work(seconds / 2);
}

/* pool: four threads that work, while main waits for them. */
static void *pool_thread(void *argument)
{
    work(seconds / 2);
    return argument;
}

static void pool(double share)
{
    (void)share;
    for (int i = 0; i < 4; i++)
        start(pool_thread);
    was_active(began);
    join_all();
}

/* server: busy for that share of the time, else waiting for the next request. */
static void server(double share)
{
    const double every = 0.05;
    double idle_since = wall();
    for (double next = idle_since, until = next + seconds; next < until; next += every) {
        sleep_until(next);
        idle_since = work_since(next > idle_since ? next : idle_since, every * share);
    }
}

/* sleepers: 200 threads that sleep, while main works for half of the time. They wake one after another. */
static void *sleeper(void *argument)
{
    double until = began + seconds * (0.6 + 0.4 * (double)(intptr_t)argument / 200);
    sleep_until(until);
    was_active(until);
    return NULL;
}

static void sleepers(double share)
{
    (void)share;
    for (int i = 0; i < 200; i++)
        start(sleeper);
    burn_cpu(seconds / 2);
    was_active(began);
    join_all();
}

/* producers: one that makes an item in 10 ms, one that uses it in 2 ms. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int items, used_up;
static double made[TIMES];

static void *consumer(void *argument)
{
    double since = wall();
    for (int left = (int)(seconds / 0.01); left > 0; left--) {
        pthread_mutex_lock(&mutex);
        while (items == 0) {
            pthread_cond_wait(&changed, &mutex);
            since = made[used_up];
        }
        items--;
        used_up++;
        pthread_mutex_unlock(&mutex);
        since = work_since(since, 0.002);
    }
    return argument;
}

static void *producer(void *argument)
{
    double since = wall();
    for (int left = (int)(seconds / 0.01); left > 0; left--) {
        since = work_since(since, 0.01);
        pthread_mutex_lock(&mutex);
        made[used_up + items++] = wall();
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

static void producers(double share)
{
    (void)share;
    start(producer);
    start(consumer);
    was_active(began);
    join_all();
}

static const struct {
    const char *name;
    void (*run)(double share);
} cases[] = {
    {"busy", busy},     {"burst", burst},       {"pool", pool},
    {"server", server}, {"sleepers", sleepers}, {"producers", producers},
};

int main(int argc, char **argv)
{
    began = wall();
    seconds = seconds_argument(argc, argv, 1, 1);
    const char *name = argc > 2 ? argv[2] : "busy";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, name) == 0) {
            cases[i].run(seconds_argument(argc, argv, 3, 0.05));
            double ended = wall();
            printf("{\"program\":\"ledger\",\"case\":\"%s\",\"pid\":%d,\"began\":%.6f,\"ended\":%.6f,\"cpu_"
                   "s\":%.6f,"
                   "\"active\":[",
                   name, (int)getpid(), began, ended, process_cpu());
            for (int one = 0; one < active_count; one++)
                printf("%s[%.6f,%.6f]", one ? "," : "", active[one].begin, active[one].end);
            printf("]}\n");
            return 0;
        }
    fprintf(stderr, "ledger: no case %s\n", name);
    return 2;
}
