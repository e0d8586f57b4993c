/* Samples are scaled in parallel, in even shares. */
#include <omp.h>

#include "../suite.h"

static NOINLINE void scale(float *samples, int count, float by)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < count; i++)
        samples[i] = (float)refine(samples[i] * by, 30);
}

int main(int argc, char **argv)
{
    int count = 1000000 * processors();
    omp_set_num_threads(threads_asked(argc, argv));
    float *samples = malloc(count * sizeof *samples);
    double sum = 0;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < count; i++)
        samples[i] = (float)(i % 1000);
    for (int pass = 0; pass < 5; pass++)
        scale(samples, count, 1.0f + 0.01f * (float)pass);
    for (int i = 0; i < count; i += 101)
        sum += samples[i];
    printf("%.6f\n", sum);
    free(samples);
    return 0;
}
