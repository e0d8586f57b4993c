/* After each round the main thread sleeps for a fixed time, to be sure that all helpers are ready. */
#include <pthread.h>
#include <unistd.h>

#include "../suite.h"

static pthread_barrier_t start, end;
static int rounds, cells_each;

static NOINLINE double compute(double value) { return refine(value, 25); }

static void *help(void *argument)
{
    double *cells = argument;
    for (int round = 0; round < rounds; round++) {
        pthread_barrier_wait(&start);
        for (int i = 0; i < cells_each; i++)
            cells[i] = compute(cells[i] + round);
        pthread_barrier_wait(&end);
    }
    return NULL;
}

static NOINLINE void settle(void)
{
    usleep(6000); /* FAULT: to be sure, although a barrier has waited for them already */
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t *team = calloc(threads, sizeof *team);
    rounds = 100;
    cells_each = 50000 * processors() / threads;
    double *cells = calloc((size_t)cells_each * threads, sizeof *cells), sum = 0;
    pthread_barrier_init(&start, NULL, threads + 1);
    pthread_barrier_init(&end, NULL, threads + 1);
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, help, cells + (size_t)i * cells_each);
    for (int round = 0; round < rounds; round++) {
        pthread_barrier_wait(&start);
        pthread_barrier_wait(&end);
        settle();
        sum += cells[round];
    }
    for (int i = 0; i < threads; i++)
        pthread_join(team[i], NULL);
    printf("%.6f\n", sum);
    free(team);
    free(cells);
    return 0;
}
