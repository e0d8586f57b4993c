/* Threads look prices up in lists that are never changed by then, with the lock held for writing. */
#include <pthread.h>

#include "../suite.h"

#define LISTS 64
#define LENGTH 1600

static pthread_rwlock_t guard = PTHREAD_RWLOCK_INITIALIZER;
static struct
{
    unsigned code;
    double price;
} lists[LISTS][LENGTH];
static int lookups_each;

static NOINLINE double price_of(unsigned code)
{
    double price = 0;
    pthread_rwlock_wrlock(&guard); /* FAULT: for writing, although it only reads */
    for (int i = 0; i < LENGTH; i++)
        if (lists[code % LISTS][i].code == code)
            price = lists[code % LISTS][i].price;
    pthread_rwlock_unlock(&guard);
    return price;
}

static NOINLINE double rate(double price) { return refine(price, 60); }

static void *sell(void *argument)
{
    double *sum = argument;
    uint64_t state = 4711;
    for (int i = 0; i < lookups_each; i++)
        *sum += rate(price_of(next_random(&state) % (LISTS * LENGTH)));
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t *team = calloc(threads, sizeof *team);
    double(*sums)[16] = calloc(threads, sizeof *sums), sum = 0;
    lookups_each = 800000 * processors() / threads;
    for (unsigned code = 0; code < LISTS * LENGTH; code++) {
        lists[code % LISTS][code / LISTS].code = code;
        lists[code % LISTS][code / LISTS].price = code % 997;
    }
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, sell, sums[i]);
    for (int i = 0; i < threads; i++) {
        pthread_join(team[i], NULL);
        sum += sums[i][0];
    }
    printf("%.6f\n", sum);
    free(team);
    free(sums);
    return 0;
}
