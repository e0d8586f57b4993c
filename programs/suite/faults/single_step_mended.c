/* Particles move in parallel; in each step all threads of the team compute forces first. */
#include <omp.h>

#include "../suite.h"

static NOINLINE void run_steps(double *places, double *forces, int count, int steps)
{
#pragma omp parallel
    for (int step = 0; step < steps; step++) {
#pragma omp for schedule(static)
        for (int i = 0; i < count; i++)
            forces[i] = refine(places[i] + step, 60);
#pragma omp for schedule(static)
        for (int i = 0; i < count; i++)
            places[i] = refine(places[i] + forces[i], 90);
    }
}

int main(int argc, char **argv)
{
    int count = 8000 * processors();
    omp_set_num_threads(threads_asked(argc, argv));
    double *places = calloc(count, sizeof *places), *forces = calloc(count, sizeof *forces), sum = 0;
    for (int i = 0; i < count; i++)
        places[i] = i % 100;
    run_steps(places, forces, count, 150);
    for (int i = 0; i < count; i++)
        sum += places[i];
    printf("%.6f\n", sum);
    free(places);
    free(forces);
    return 0;
}
