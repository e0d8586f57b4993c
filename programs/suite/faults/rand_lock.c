/* Threads throw darts to estimate pi, by numbers of the C library's generator. */
#include <pthread.h>

#include "../suite.h"

struct thrower {
    long darts, hits;
    char apart[112];
};

static NOINLINE double coordinate(void)
{
    return random() / 2147483648.0; /* FAULT: one generator for all threads, behind a lock */
}

static void *throw_darts(void *argument)
{
    struct thrower *thrower = argument;
    long hits = 0;
    for (long dart = 0; dart < thrower->darts; dart++) {
        double x = coordinate(), y = coordinate();
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
