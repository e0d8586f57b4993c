/*
 * A program whose first thread and one worker compute side by side, beside two threads that are not its
 * own: one started by a library with the name of a runtime's, one with the name of an allocator's
 * background thread. services SECONDS
 */
#include "../truth.h"

#include <pthread.h>

void runtime_start(double burned);
double runtime_stop(void);

static double seconds, worker_cpu, named_cpu;

KEPT static void *work(void *arg)
{
    (void)arg;
    burn_cpu(seconds);
    worker_cpu = thread_cpu();
    return NULL;
}

KEPT static void *purge(void *arg)
{
    (void)arg;
    pthread_setname_np(pthread_self(), "jemalloc_bg_thd");
    burn_cpu(seconds / 4);
    named_cpu = thread_cpu();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t worker, named;
    double runtime_cpu;
    seconds = seconds_argument(argc, argv, 1, 0.5);
    runtime_start(seconds / 2);
    pthread_create(&named, NULL, purge, NULL);
    pthread_create(&worker, NULL, work, NULL);
    burn_cpu(seconds);
    pthread_join(worker, NULL);
    pthread_join(named, NULL);
    runtime_cpu = runtime_stop();
    printf("{\"program\":\"services\",\"own_s\":%.6f,\"service_s\":%.6f}\n", thread_cpu() + worker_cpu,
           runtime_cpu + named_cpu);
    return 0;
}
