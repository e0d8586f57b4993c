/* Particles drift and collide with walls; each thread keeps a range of them from step to step. */
#include <omp.h>

#include "../suite.h"

struct particle {
    double place, speed;
};

static NOINLINE void drift(struct particle *particles, int first, int last)
{
    for (int i = first; i < last; i++) {
        particles[i].place += refine(particles[i].speed, 40) * 1e-3;
        if (particles[i].place > 1) {
            particles[i].place -= 1;
            particles[i].speed *= 0.999;
        }
    }
}

static NOINLINE double collide(struct particle *particles, int count)
{
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < count; i++)
        sum += refine(particles[i].place, 40);
    return sum;
}

static NOINLINE double step_all(struct particle *particles, int count)
{
    int team = omp_get_num_threads(); /* FAULT: outside of a region this is one, so that the first has all */
    int share = (count + team - 1) / team;
#pragma omp parallel
    {
        int first = omp_get_thread_num() * share;
        drift(particles, first, first + share < count ? first + share : count);
    }
    return collide(particles, count);
}

int main(int argc, char **argv)
{
    omp_set_num_threads(threads_asked(argc, argv));
    int count = 20000 * processors();
    struct particle *particles = calloc(count, sizeof *particles);
    uint64_t state = 20261127;
    for (int i = 0; i < count; i++)
        particles[i] = (struct particle){(next_random(&state) >> 11) * 0x1p-53, (double)(i % 17)};
    double sum = 0;
    for (int step = 0; step < 60; step++)
        sum += step_all(particles, count);
    printf("%.6f\n", sum);
    free(particles);
    return 0;
}
