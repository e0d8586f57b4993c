/* What a call takes inside another operation of the same thread: in a signal handler that runs while the
 * thread waits for signals. Medians of batches in nanoseconds, as JSON. nested [BATCHES] */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EACH 1000
#define MOST_BATCHES 1000

static int batches = 100;
static double took[3][MOST_BATCHES];
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void measure(int batch)
{
    double begin = now();
    for (int i = 0; i < EACH; i++)
        poll(NULL, 0, 0);
    took[0][batch] = (now() - begin) / EACH;
    begin = now();
    for (int i = 0; i < EACH; i++)
        sched_yield();
    took[1][batch] = (now() - begin) / EACH;
    /* A lock that somebody has: the attempt ends at a time that has passed. */
    struct timespec past = { 1, 0 };
    begin = now();
    for (int i = 0; i < EACH; i++)
        pthread_mutex_timedlock(&held, &past);
    took[2][batch] = (now() - begin) / EACH;
}

static void in_handler(int signal)
{
    (void)signal;
    for (int batch = 0; batch < batches; batch++)
        measure(batch);
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *holds(void *none)
{
    pthread_mutex_lock(&held);
    sigset_t all;
    sigfillset(&all);
    int got;
    sigwait(&all, &got);
    return none;
}

int main(int argc, char **argv)
{
    if (argc > 1 && atoi(argv[1]) > 0 && atoi(argv[1]) <= MOST_BATCHES)
        batches = atoi(argv[1]);
    sigset_t blocked, none;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    pthread_t holder;
    pthread_create(&holder, NULL, holds, NULL);
    while (pthread_mutex_trylock(&held) == 0) {
        pthread_mutex_unlock(&held);
        sched_yield();
    }
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = in_handler;
    sigaction(SIGUSR1, &action, NULL);
    pthread_kill(pthread_self(), SIGUSR1);
    sigemptyset(&none);
    sigsuspend(&none);
    pthread_kill(holder, SIGUSR2);
    pthread_join(holder, NULL);
    const char *names[] = { "poll", "yield", "lock" };
    for (int kind = 0; kind < 3; kind++) {
        qsort(took[kind], (size_t)batches, sizeof took[kind][0], by_time);
        printf("%s\"%s_ns\":%.1f", kind ? "," : "{", names[kind], took[kind][batches / 2]);
    }
    printf("}\n");
    return 0;
}
