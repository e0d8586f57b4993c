/* Steps of a simulation: who is done early is woken by the last. */
#include <pthread.h>

#include "../suite.h"

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static int arrived;
static int threads, steps;

static NOINLINE double advance(double state) { return refine(state, 220000); }

static NOINLINE void wait_for_all(int step)
{
    pthread_mutex_lock(&guard);
    if (++arrived == threads * (step + 1))
        pthread_cond_broadcast(&all_here);
    while (arrived < threads * (step + 1))
        pthread_cond_wait(&all_here, &guard);
    pthread_mutex_unlock(&guard);
}

static void *simulate(void *state)
{
    for (int step = 0; step < steps; step++) {
        *(double *)state = advance(*(double *)state);
        wait_for_all(step);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    threads = threads_asked(argc, argv);
    steps = 130;
    pthread_t *team = calloc(threads, sizeof *team);
    double *states = calloc(16 * threads, sizeof *states);
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, simulate, &states[16 * i]);
    for (int i = 0; i < threads; i++)
        pthread_join(team[i], NULL);
    printf("%.6f\n", states[0]);
    free(team);
    free(states);
    return 0;
}
