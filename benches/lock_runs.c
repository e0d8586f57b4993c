/*
 * Threads that share one mutex for a whole run: hold it, do without it, again and again.
 * lock_runs SECONDS THREADS HOLD THINK
 * HOLD and THINK: nanoseconds. Threads that come and go in step hardly ever sleep, and whatever delays one
 * of them ends that for a while: batches as those of lock_matrix are too short to show how often. The mutex
 * lies beside what it guards, as in most programs.
 *
 * Prints wall time per acquisition of all threads together, and voluntary context switches per 1000
 * acquisitions.
 */
#include "truth.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

enum { MOST_THREADS = 16 };

static struct {
    uint64_t guarded;
    pthread_mutex_t mutex;
} shared __attribute__((aligned(128))) = {1, PTHREAD_MUTEX_INITIALIZER};
static struct {
    uint64_t hold, think; /* steps */
    atomic_int is_over;
} work __attribute__((aligned(128)));
static struct {
    long acquisitions;
} counts[MOST_THREADS] __attribute__((aligned(128)));

static void *member(void *argument)
{
    long acquisitions = 0;
    uint64_t own = 1;
    while (!atomic_load_explicit(&work.is_over, memory_order_relaxed)) {
        pthread_mutex_lock(&shared.mutex);
        /* It writes what it guards at each step, and does not wait for that: a step takes as long as one of
           thinking. */
        uint64_t guarded = shared.guarded;
        for (uint64_t left = work.hold; left > 0; left--) {
            BURN(guarded, 1);
            __atomic_store_n(&shared.guarded, guarded, __ATOMIC_RELAXED);
        }
        pthread_mutex_unlock(&shared.mutex);
        BURN(own, work.think);
        acquisitions++;
    }
    counts[(intptr_t)argument].acquisitions = acquisitions;
    kept_result = own;
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    double seconds = atof(argv[1]), step_s = 1;
    int threads = atoi(argv[2]);
    if (threads < 1 || threads > MOST_THREADS)
        return 2;
    /* A step's length, from the shortest of some stretches. */
    for (int i = 0; i < 50; i++) {
        double began = wall();
        BURN(shared.guarded, 20000);
        double one = (wall() - began) / 20000;
        step_s = one < step_s ? one : step_s;
    }
    work.hold = (uint64_t)(atof(argv[3]) * 1e-9 / step_s);
    work.think = (uint64_t)(atof(argv[4]) * 1e-9 / step_s);
    pthread_t ids[MOST_THREADS];
    double began = wall();
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, member, (void *)(intptr_t)i) != 0)
            return 2;
    struct timespec pause = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&pause, NULL);
    atomic_store(&work.is_over, 1);
    long acquisitions = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        acquisitions += counts[i].acquisitions;
    }
    double took = wall() - began;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"program\":\"lock_runs\",\"threads\":%d,\"ns\":%.1f,\"sleeps\":%.1f}\n", threads,
           1e9 * took / (double)acquisitions, 1000.0 * (double)usage.ru_nvcsw / (double)acquisitions);
    return 0;
}
