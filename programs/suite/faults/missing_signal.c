/* Workers take jobs of a round from a list and wait on a condition, with a limit, while it is empty. */
#include <pthread.h>

#include "../suite.h"

enum { ROUNDS = 50 };

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_jobs = PTHREAD_COND_INITIALIZER, is_done = PTHREAD_COND_INITIALIZER;
static int jobs[4096], waiting, unfinished, is_over;
static double total;

static NOINLINE double solve(int job) { return refine(job, 180000); }

static NOINLINE void put(int job)
{
    pthread_mutex_lock(&guard);
    jobs[waiting++] = job; /* FAULT: nobody is woken, workers see it when their time is up */
    unfinished++;
    pthread_mutex_unlock(&guard);
}

/* The limit is there so that a worker sees the end of the program. */
static NOINLINE int take(void)
{
    int job = -1;
    pthread_mutex_lock(&guard);
    while (waiting == 0 && !is_over) {
        struct timespec limit;
        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_nsec += 20000000;
        limit.tv_sec += limit.tv_nsec / 1000000000;
        limit.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&has_jobs, &guard, &limit);
    }
    if (waiting > 0)
        job = jobs[--waiting];
    pthread_mutex_unlock(&guard);
    return job;
}

static void *work(void *unused)
{
    for (int job; (job = take()) >= 0;) {
        double value = solve(job);
        pthread_mutex_lock(&guard);
        total += value;
        if (--unfinished == 0)
            pthread_cond_signal(&is_done);
        pthread_mutex_unlock(&guard);
    }
    return unused;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), jobs_each_round = 8 * processors();
    pthread_t *team = calloc(threads, sizeof *team);
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, work, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        for (int job = 0; job < jobs_each_round; job++)
            put(job);
        pthread_mutex_lock(&guard);
        while (unfinished > 0)
            pthread_cond_wait(&is_done, &guard);
        pthread_mutex_unlock(&guard);
    }
    pthread_mutex_lock(&guard);
    is_over = 1;
    pthread_cond_broadcast(&has_jobs);
    pthread_mutex_unlock(&guard);
    for (int i = 0; i < threads; i++)
        pthread_join(team[i], NULL);
    printf("%.3f\n", total);
    free(team);
    return 0;
}
