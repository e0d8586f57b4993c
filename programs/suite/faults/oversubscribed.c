/* Lattice rounds by many times more threads than there are processors, with a barrier after each. */
#include <pthread.h>

#include "../suite.h"

#define THREADS_A_PROCESSOR 16

static pthread_barrier_t all;
static int rounds;

static NOINLINE double update(double cell) { return refine(cell, 6000); }

static void *live(void *cell)
{
    for (int round = 0; round < rounds; round++) {
        *(double *)cell = update(*(double *)cell);
        pthread_barrier_wait(&all);
    }
    return NULL;
}

static NOINLINE void start_team(pthread_t *team, double *cells, int threads)
{
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, live, &cells[16 * i]); /* FAULT: sixteen threads for each processor */
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv) * THREADS_A_PROCESSOR;
    pthread_t *team = calloc(threads, sizeof *team);
    double *cells = calloc(16 * threads, sizeof *cells);
    rounds = 1500;
    pthread_barrier_init(&all, NULL, threads);
    start_team(team, cells, threads);
    for (int i = 0; i < threads; i++)
        pthread_join(team[i], NULL);
    printf("%.6f\n", cells[0]);
    free(team);
    free(cells);
    return 0;
}
