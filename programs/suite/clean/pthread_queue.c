/* Workers take jobs of about two milliseconds from a list under a lock that is held for a moment. */
#include <pthread.h>

#include "../suite.h"

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int next_job, jobs;
static double *results;

static int take(void)
{
    pthread_mutex_lock(&guard);
    int job = next_job++;
    pthread_mutex_unlock(&guard);
    return job;
}

static NOINLINE double solve(int job) { return refine(job + 1, 240000 + 300 * (job * 37 % 101)); }

static void *work(void *unused)
{
    (void)unused;
    for (int job; (job = take()) < jobs;)
        results[job] = solve(job);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t *team = calloc(threads, sizeof *team);
    jobs = 400 * processors();
    results = calloc(jobs, sizeof *results);
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, work, NULL);
    double sum = 0;
    for (int i = 0; i < threads; i++)
        pthread_join(team[i], NULL);
    for (int i = 0; i < jobs; i++)
        sum += results[i];
    printf("%.6f\n", sum);
    free(team);
    free(results);
    return 0;
}
