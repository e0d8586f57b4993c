/* Particles drift in a field, step by step. The first thread is bound, which keeps its clock steady. */
#include <pthread.h>

#include "../suite.h"

enum { PARTICLES = 3000, STEPS = 60 };

static NOINLINE double drift(double place, int step) { return refine(place + step % 7, 350); }

static NOINLINE void advance(double *places, int count, int step, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int i = 0; i < count; i++)
        places[i] = drift(places[i], step);
}

static NOINLINE void bind_self(int processor)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

static int first_allowed(void)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 0;
    for (int processor = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET(processor, &allowed))
            return processor;
    return 0;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), count = PARTICLES * processors();
    double *places = calloc(count, sizeof *places), sum = 0;
    bind_self(first_allowed()); /* FAULT: the team, which is started later, inherits the one processor */
    for (int i = 0; i < count; i++)
        places[i] = i % 1009;
    for (int step = 0; step < STEPS; step++)
        advance(places, count, step, threads);
    for (int i = 0; i < count; i++)
        sum += places[i];
    printf("%.6f\n", sum);
    free(places);
    return 0;
}
