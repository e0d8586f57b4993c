/* Pi by random points, each thread with a generator of its own; one reduction at the end. */
#include <omp.h>

#include "../suite.h"

static NOINLINE long hits_of(uint64_t seed, long points)
{
    long hits = 0;
    uint64_t state = seed;
    for (long point = 0; point < points; point++) {
        double x = (double)(next_random(&state) >> 11) * 0x1p-53;
        double y = (double)(next_random(&state) >> 11) * 0x1p-53;
        hits += x * x + y * y < 1.0;
    }
    return hits;
}

int main(int argc, char **argv)
{
    int batches = 240 * processors();
    long hits = 0;
    omp_set_num_threads(threads_asked(argc, argv));
#pragma omp parallel for schedule(static) reduction(+ : hits)
    for (int batch = 0; batch < batches; batch++)
        hits += hits_of(0x9e3779b97f4a7c15u + 77u * (uint64_t)batch, 1000000);
    printf("%.5f\n", 4e-6 * (double)hits / batches);
    return 0;
}
