/* A search engine's shards are updated round by round; all workers meet at a barrier after each.
   Its fault: the first worker has an equal share of the shards and rebuilds the dictionary besides. */
#include <pthread.h>

#include "../suite.h"

enum { ROUNDS = 60, SHARDS = 48, WORDS = 150000, MOST = 256 };

static pthread_barrier_t round_end;
static double shard[SHARDS];
static uint32_t word[WORDS], dictionary[WORDS];
static int threads;
static unsigned long checked;

static NOINLINE void update(int number)
{
    shard[number] = refine(shard[number] + number, 80000);
}

static int compare(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

static NOINLINE void rebuild_dictionary(int round)
{
    for (int i = 0; i < WORDS; i++)
        dictionary[i] = word[i] * (2 * (uint32_t)round + 1);
    qsort(dictionary, WORDS, sizeof *dictionary, compare);
    for (int i = 0; i < WORDS; i += 1000)
        checked += dictionary[i];
}

static void *worker(void *argument)
{
    int number = (int)(intptr_t)argument;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = number; i < SHARDS; i += threads)
            update(i);
        if (number == 0)
            rebuild_dictionary(round); /* FAULT: besides its equal share, and all others wait for it */
        pthread_barrier_wait(&round_end);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[MOST];
    uint64_t state = 88172645463325252;
    threads = threads_asked(argc, argv);
    for (int i = 0; i < WORDS; i++)
        word[i] = (uint32_t)next_random(&state);
    pthread_barrier_init(&round_end, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, worker, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    double sum = 0;
    for (int i = 0; i < SHARDS; i++)
        sum += shard[i];
    printf("%.6f, %lu\n", sum, checked);
    return 0;
}
