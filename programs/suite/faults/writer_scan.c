/* Readers look prices up; a thread for statistics goes through all with the lock held for writing. */
#include <pthread.h>
#include <stdatomic.h>

#include "../suite.h"

#define PRICES 4096

static pthread_rwlock_t guard = PTHREAD_RWLOCK_INITIALIZER;
static double prices[PRICES];
static atomic_int readers_left;
static int lookups;

static NOINLINE double price_of(uint64_t *state)
{
    pthread_rwlock_rdlock(&guard);
    double price = prices[next_random(state) % PRICES];
    pthread_rwlock_unlock(&guard);
    return price;
}

static NOINLINE double statistics(void)
{
    double sum = 0;
    pthread_rwlock_wrlock(&guard); /* FAULT: held for writing through a long scan that only reads */
    for (int i = 0; i < PRICES; i++)
        sum += refine(prices[i], 160);
    pthread_rwlock_unlock(&guard);
    return sum;
}

static void *serve(void *seed)
{
    uint64_t state = (uintptr_t)seed;
    double value = 0;
    for (int i = 0; i < lookups; i++)
        value = refine(value + price_of(&state), 6000);
    readers_left--;
    return NULL;
}

static void *report(void *unused)
{
    (void)unused;
    double sum = 0;
    while (readers_left > 0) {
        sum += statistics();
        nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
    }
    return sum < 0 ? &guard : NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t *team = calloc(threads + 1, sizeof *team);
    lookups = 16000;
    readers_left = threads;
    for (int i = 0; i < PRICES; i++)
        prices[i] = i;
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, serve, (void *)(uintptr_t)(5 + i));
    pthread_create(&team[threads], NULL, report, NULL);
    for (int i = 0; i <= threads; i++)
        pthread_join(team[i], NULL);
    printf("%d\n", threads * lookups);
    free(team);
    return 0;
}
