/* Workers note each result in a journal and make it durable; the lock only gives out places. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "../suite.h"

#define PAGE 4096

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int journal, next_job, jobs;
static long entries;

static NOINLINE double solve(int job) { return refine(job, 300000); }

static NOINLINE void note(int job, double value)
{
    char page[PAGE] = {0};
    snprintf(page, sizeof page, "%d %.6f\n", job, value);
    pthread_mutex_lock(&guard);
    off_t place = PAGE * entries++;
    pthread_mutex_unlock(&guard);
    if (pwrite(journal, page, sizeof page, place) < 0 || fdatasync(journal) != 0)
        abort();
}

static void *work(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&guard);
        int job = next_job++;
        pthread_mutex_unlock(&guard);
        if (job >= jobs)
            return NULL;
        note(job, solve(job));
    }
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    const char *path = argc > 2 ? argv[2] : "journal";
    pthread_t *team = calloc(threads, sizeof *team);
    jobs = 160 * processors();
    if ((journal = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644)) < 0)
        return 1;
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, work, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(team[i], NULL);
    printf("%ld\n", entries);
    free(team);
    return 0;
}
