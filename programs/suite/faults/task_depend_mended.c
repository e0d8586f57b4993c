/* Blocks of a film are cut and then coloured: two tasks for each block, the second after the first. */
#include <omp.h>

#include "../suite.h"

enum { SIZE = 400 };

typedef double block[SIZE];

static NOINLINE void cut(double *values, int scene)
{
    for (int i = 0; i < SIZE; i++)
        values[i] = refine(values[i] + scene + i, 120);
}

static NOINLINE void colour(double *values)
{
    for (int i = 0; i < SIZE; i++)
        values[i] = refine(values[i] * 2, 160);
}

static NOINLINE void process_all(block *film, int blocks, int scene)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < blocks; i++) {
#pragma omp task depend(out : film[i])
        cut(film[i], scene);
#pragma omp task depend(inout : film[i])
        colour(film[i]);
    }
}

int main(int argc, char **argv)
{
    int blocks = 32 * processors();
    omp_set_num_threads(threads_asked(argc, argv));
    block *film = calloc(blocks, sizeof *film);
    double sum = 0;
    for (int scene = 0; scene < 40; scene++)
        process_all(film, blocks, scene);
    for (int i = 0; i < blocks; i++)
        sum += film[i][0] + film[i][SIZE - 1];
    printf("%.6f\n", sum);
    free(film);
    return 0;
}
