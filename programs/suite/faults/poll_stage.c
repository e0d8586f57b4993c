/* Steps of a simulation: who is done early looks every few milliseconds whether the others are. */
#include <pthread.h>
#include <stdatomic.h>

#include "../suite.h"

static atomic_int arrived;
static int threads, steps;

static NOINLINE double advance(double state) { return refine(state, 220000); }

static NOINLINE void wait_for_all(int step)
{
    arrived++;
    while (arrived < threads * (step + 1))
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL); /* FAULT: 10 ms until it looks again */
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
