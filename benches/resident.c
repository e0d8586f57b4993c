/*
 * Threads that compute through some different call paths; prints the process's memory while all of them live.
 * resident [THREADS] [SECONDS of each]
 */
#include "truth.h"

#include <pthread.h>
#include <string.h>

static pthread_barrier_t all_worked, all_counted;
static double seconds;

KEPT static uint64_t walk(uint64_t x, int levels)
{
    BURN(x, UNIT / 8);
    if (levels > 1)
        x = walk(x, levels - 1);
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

static void *worker(void *argument)
{
    uint64_t x = 1;
    double end = thread_cpu() + seconds;
    for (int levels = 1; thread_cpu() < end; levels = levels % 30 + 1)
        x = walk(x, levels);
    kept_result = x;
    pthread_barrier_wait(&all_worked);
    pthread_barrier_wait(&all_counted);
    return argument;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    seconds = seconds_argument(argc, argv, 2, 0.2);
    pthread_t *created = calloc((size_t)threads, sizeof *created);
    pthread_barrier_init(&all_worked, NULL, (unsigned)threads);
    pthread_barrier_init(&all_counted, NULL, (unsigned)threads);
    for (int i = 1; i < threads; i++)
        pthread_create(&created[i], NULL, worker, NULL);

    /* The first thread is one of them. */
    uint64_t x = 1;
    double end = thread_cpu() + seconds;
    for (int levels = 1; thread_cpu() < end; levels = levels % 30 + 1)
        x = walk(x, levels);
    kept_result = x;
    pthread_barrier_wait(&all_worked);

    static const char *const wanted[] = {"VmHWM", "VmRSS", "RssAnon", "RssFile", "RssShmem"};
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    printf("{\"threads\":%d", threads);
    while (status && fgets(line, sizeof line, status)) {
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
            if (strncmp(line, wanted[i], strlen(wanted[i])) == 0)
                printf(",\"%s\":%ld", wanted[i], atol(strchr(line, ':') + 1));
    }
    printf("}\n");
    fflush(stdout);
    pthread_barrier_wait(&all_counted);
    for (int i = 1; i < threads; i++)
        pthread_join(created[i], NULL);
    free(created);
    return 0;
}
