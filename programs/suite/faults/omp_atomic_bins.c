/* How many pairs of stars there are at each distance: pairs are counted in bins by all threads. */
#include <omp.h>

#include "../suite.h"

enum { STARS = 20000, BINS = 48 };

struct star {
    float x, y, z;
};

static struct star stars[STARS];
static long pairs[BINS];

static void place_stars(void)
{
    uint64_t state = 88172645463325252;
    for (int star = 0; star < STARS; star++) {
        stars[star].x = (float)(next_random(&state) % 10000) / 10000;
        stars[star].y = (float)(next_random(&state) % 10000) / 10000;
        stars[star].z = (float)(next_random(&state) % 10000) / 10000;
    }
}

static inline int bin_of(struct star a, struct star b)
{
    float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return (int)(sqrtf(x * x + y * y + z * z) * (BINS / 1.7321f));
}

static NOINLINE void count_pairs(int threads)
{
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
    for (int first = 0; first < STARS; first++)
        for (int second = first + 1; second < STARS; second++) {
            int bin = bin_of(stars[first], stars[second]);
#pragma omp atomic /* FAULT: threads share the bins and write to them by atomic operations for each pair */
            pairs[bin]++;
        }
}

int main(int argc, char **argv)
{
    place_stars();
    count_pairs(threads_asked(argc, argv));
    double mean = 0, all = 0.5 * STARS * (STARS - 1.0);
    for (int bin = 0; bin < BINS; bin++)
        mean += (bin + 0.5) * (double)pairs[bin] / all;
    printf("%.9f\n", mean);
    return 0;
}
