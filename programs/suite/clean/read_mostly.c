/* Routes are looked up under a lock held for reading, and changed rarely under the lock held for writing. */
#include <pthread.h>

#include "../suite.h"

#define ROUTES 1024

static pthread_rwlock_t guard = PTHREAD_RWLOCK_INITIALIZER;
static struct
{
    int via;
    long changes;
} routes[ROUTES];
static int requests_each;

static NOINLINE int find_route(int target)
{
    pthread_rwlock_rdlock(&guard);
    int via = routes[target].via;
    pthread_rwlock_unlock(&guard);
    return via;
}

static NOINLINE void confirm_route(int target)
{
    pthread_rwlock_wrlock(&guard);
    routes[target].changes++;
    pthread_rwlock_unlock(&guard);
}

static NOINLINE double forward(int target, int via) { return refine(target + via, 8000); }

static void *serve(void *argument)
{
    double *sum = argument;
    uint64_t state = 77;
    for (int request = 0; request < requests_each; request++) {
        int target = next_random(&state) % ROUTES;
        *sum += forward(target, find_route(target));
        if (request % 500 == 499)
            confirm_route(target);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t *team = calloc(threads, sizeof *team);
    double(*sums)[16] = calloc(threads, sizeof *sums), sum = 0;
    requests_each = 24000 * processors() / threads;
    for (int i = 0; i < ROUTES; i++)
        routes[i].via = i * 31 % 16;
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, serve, sums[i]);
    for (int i = 0; i < threads; i++) {
        pthread_join(team[i], NULL);
        sum += sums[i][0];
    }
    printf("%.6f\n", sum);
    free(team);
    free(sums);
    return 0;
}
