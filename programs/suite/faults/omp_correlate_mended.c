/* How alike the curves of many genes are: each is compared with all before it. */
#include "../suite.h"

enum { GENES = 2900, SAMPLES = 400 };

static float level[GENES][SAMPLES];
static double strongest[GENES];

static void make_levels(void)
{
    uint64_t state = 1234567;
    for (int gene = 0; gene < GENES; gene++)
        for (int sample = 0; sample < SAMPLES; sample++)
            level[gene][sample] = (float)(next_random(&state) % 2001) / 1000 - 1;
}

static NOINLINE double correlation(const float *one, const float *other)
{
    double sum = 0;
    for (int sample = 0; sample < SAMPLES; sample++)
        sum += (double)one[sample] * other[sample];
    return fabs(sum) / SAMPLES;
}

static NOINLINE void correlate(int threads)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic, 8)
    for (int gene = 0; gene < GENES; gene++) {
        double best = 0;
        for (int other = 0; other < gene; other++) {
            double found = correlation(level[gene], level[other]);
            if (found > best)
                best = found;
        }
        strongest[gene] = best;
    }
}

int main(int argc, char **argv)
{
    double total = 0;
    make_levels();
    correlate(threads_asked(argc, argv));
    for (int gene = 0; gene < GENES; gene++)
        total += strongest[gene];
    printf("%.6f\n", total);
    return 0;
}
