/*
 * Two threads that work equally long and meet at a barrier, again and again. At the end they ask the kernel
 * for how long they wanted a processor and had none: beside other work, most of the time that they lose.
 * queued [SECONDS]
 */
#include "../truth.h"
#include <omp.h>

/* So long the calling thread was in the run queue since it began. */
static double queued_seconds(void)
{
    unsigned long long on_processor = 0, queued = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    int read = file ? fscanf(file, "%llu %llu", &on_processor, &queued) : 0;
    if (file)
        fclose(file);
    return read == 2 ? 1e-9 * (double)queued : -1;
}

int main(int argc, char **argv)
{
    double seconds = seconds_argument(argc, argv, 1, 1.0), begin = wall(), queued[2] = {0, 0};
    uint64_t results[2] = {0, 0}, steps = 0;
    int over = 0;

#pragma omp parallel num_threads(2)
    {
        int me = omp_get_thread_num();
        uint64_t x = (uint64_t)me + 1;
        while (!over) {
            BURN(x, UNIT);
#pragma omp barrier
#pragma omp single
            {
                steps++;
                over = wall() - begin > seconds;
            }
        }
        results[me] = x;
        queued[me] = queued_seconds();
    }
    fprintf(stderr, "%llu\n", (unsigned long long)(results[0] ^ results[1]));
    printf("{\"wall_s\":%.6f,\"queued_s\":[%.6f,%.6f],\"steps\":%llu}\n", wall() - begin, queued[0],
           queued[1], (unsigned long long)steps);
    return 0;
}
