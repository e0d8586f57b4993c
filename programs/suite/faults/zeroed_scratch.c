/* Each query clears its thread's whole scratch table although it uses a few entries only. */
#include <pthread.h>

#include "../suite.h"

#define ENTRIES (1 << 20)

static int queries;

static NOINLINE long look_up(int *scratch, int query)
{
    uint64_t state = 17u + (uint64_t)query;
    long found = 0;
    for (int i = 0; i < 20000; i++)
        found += ++scratch[next_random(&state) % ENTRIES];
    return found;
}

static NOINLINE void reset(int *scratch)
{
    memset(scratch, 0, ENTRIES * sizeof *scratch); /* FAULT: all four megabytes for each query */
}

static void *answer(void *sum)
{
    int *scratch = malloc(ENTRIES * sizeof *scratch);
    for (int query = 0; query < queries; query++) {
        reset(scratch);
        *(long *)sum += look_up(scratch, query);
    }
    free(scratch);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t *team = calloc(threads, sizeof *team);
    long *sums = calloc(16 * threads, sizeof *sums);
    queries = 7000 * processors() / threads;
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, answer, &sums[16 * i]);
    for (int i = 0; i < threads; i++)
        pthread_join(team[i], NULL);
    printf("%ld\n", sums[0]);
    free(team);
    free(sums);
    return 0;
}
