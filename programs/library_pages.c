/*
 * A small process that looks how much of a preloaded library is mapped and in memory.
 * library_pages [SECONDS of work]
 *
 * Two threads compute, so that they are sampled; then each meets the other. Prints in KiB what is resident of
 * the mappings of a library named libproust_collector: its code, and all of it.
 */
#include "truth.h"

#include <pthread.h>
#include <string.h>

static pthread_barrier_t worked;
static double seconds;

static void *worker(void *argument)
{
    uint64_t x = 1;
    for (double end = thread_cpu() + seconds; thread_cpu() < end;)
        BURN(x, UNIT / 8);
    kept_result = x;
    pthread_barrier_wait(&worked);
    return argument;
}

int main(int argc, char **argv)
{
    seconds = seconds_argument(argc, argv, 1, 0.1);
    pthread_t other;
    pthread_barrier_init(&worked, NULL, 2);
    pthread_create(&other, NULL, worker, NULL);
    worker(NULL);
    pthread_join(other, NULL);

    char line[4096], access[8] = "";
    int is_library = 0;
    long code_kib = 0, library_kib = 0, value;
    FILE *mappings = fopen("/proc/self/smaps", "r");
    while (mappings && fgets(line, sizeof line, mappings)) {
        if (sscanf(line, "%*x-%*x %7s", access) == 1)
            is_library = strstr(line, "libproust_collector") != NULL;
        else if (is_library && sscanf(line, "Rss: %ld", &value) == 1) {
            library_kib += value;
            if (strchr(access, 'x'))
                code_kib += value;
        }
    }
    printf("{\"code_kib\":%ld,\"library_kib\":%ld}\n", code_kib, library_kib);
    return 0;
}
