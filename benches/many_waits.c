/*
 * Many threads that wait once each and live until all have, in a process with many mappings or few. Prints
 * the wall time of creating them all and letting them wait, and the memory that is resident then.
 * many_waits THREADS [MAPPINGS]
 */
#include "truth.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

static pthread_barrier_t all_waited, all_counted;

static void *waits(void *argument)
{
    struct timespec moment = {0, 50000};
    nanosleep(&moment, NULL);
    pthread_barrier_wait(&all_waited);
    pthread_barrier_wait(&all_counted);
    return argument;
}

static long resident_kb(void)
{
    char line[256];
    long kb = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = atol(line + 6);
    if (status != NULL)
        fclose(status);
    return kb;
}

int main(int argc, char **argv)
{
    long threads = argc > 1 ? atol(argv[1]) : 1000, mappings = argc > 2 ? atol(argv[2]) : 0;
    /* Neighbours of other rights do not become one mapping. */
    char *pages = mappings > 0
                      ? mmap(NULL, (size_t)mappings * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                      : NULL;
    for (long i = 0; i < mappings; i += 2)
        if (pages == MAP_FAILED || mprotect(pages + i * 4096, 4096, PROT_NONE) != 0)
            return 3;
    pthread_t *created = calloc((size_t)threads, sizeof *created);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    pthread_barrier_init(&all_waited, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&all_counted, NULL, (unsigned)threads + 1);
    double began = wall();
    for (long i = 0; i < threads; i++)
        if (pthread_create(&created[i], &attributes, waits, NULL) != 0)
            return 3;
    pthread_barrier_wait(&all_waited);
    double took = wall() - began;
    long kb = resident_kb();
    pthread_barrier_wait(&all_counted);
    for (long i = 0; i < threads; i++)
        pthread_join(created[i], NULL);
    printf("{\"threads\":%ld,\"mappings\":%ld,\"wall_us\":%.3f,\"resident_kb\":%ld}\n", threads, mappings,
           1e6 * took / (double)threads, kb);
    return 0;
}
