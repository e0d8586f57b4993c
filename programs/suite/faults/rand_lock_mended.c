/* Threads throw darts to estimate pi, by numbers of the C library, each with a state of its own. */
#include <pthread.h>

#include "../suite.h"

struct thrower {
    long darts, hits;
    int seed;
    char apart[104];
};

static NOINLINE double coordinate(unsigned short *state)
{
    return erand48(state);
}

static void *throw_darts(void *argument)
{
    struct thrower *thrower = argument;
    long hits = 0;
    unsigned short state[3] = {0x330e, thrower->seed, 1};
    for (long dart = 0; dart < thrower->darts; dart++) {
        double x = coordinate(state), y = coordinate(state);
        hits += refine(x * x + y * y, 12) < refine(1, 12);
    }
    thrower->hits = hits;
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t *team = calloc(threads, sizeof *team);
    struct thrower *throwers = calloc(threads, sizeof *throwers);
    long darts = 8000000L * processors(), hits = 0;
    for (int i = 0; i < threads; i++) {
        throwers[i].darts = darts / threads;
        throwers[i].seed = i;
        pthread_create(&team[i], NULL, throw_darts, &throwers[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(team[i], NULL);
        hits += throwers[i].hits;
    }
    printf("%.1f\n", 4.0 * hits / darts);
    free(team);
    free(throwers);
    return 0;
}
