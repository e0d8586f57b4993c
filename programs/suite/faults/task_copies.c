/* Strips of a night sky are corrected with a table of the lens, each by a task of its own. */
#include <omp.h>

#include "../suite.h"

enum { LENS = 16384, STRIP = 512, STRIPS = 45000 };

static float strips[64][STRIP];

static void make_lens(double *lens)
{
    for (int i = 0; i < LENS; i++)
        lens[i] = 1 + refine(i % 97, 3) / 1000;
}

static NOINLINE double correct(const float *strip, const double *lens, int number)
{
    double sum = 0;
    for (int i = 0; i < STRIP; i++)
        sum += refine(strip[i] * lens[(number * 73 + i * 61) % LENS], 12);
    return sum;
}

static NOINLINE double correct_night(int count)
{
    double lens[LENS], *sums = calloc(count, sizeof *sums), total = 0;
    make_lens(lens);
    for (int number = 0; number < count; number++) {
        double *sum = &sums[number];
#pragma omp task /* FAULT: each task gets a copy of the table of the lens */
        *sum = correct(strips[number % 64], lens, number);
    }
#pragma omp taskwait
    for (int number = 0; number < count; number++)
        total += sums[number];
    free(sums);
    return total;
}

int main(int argc, char **argv)
{
    uint64_t state = 88172645463325252;
    omp_set_num_threads(threads_asked(argc, argv));
    for (int strip = 0; strip < 64; strip++)
        for (int i = 0; i < STRIP; i++)
            strips[strip][i] = next_random(&state) % 4096 / 16.0f;
    double total = 0;
#pragma omp parallel
#pragma omp single
    total = correct_night(STRIPS * processors());
    printf("%.3f\n", total);
    return 0;
}
