/* A histogram's moments: each value is added up in a critical section. */
#include <omp.h>

#include "../suite.h"

static NOINLINE double value_of(long item) { return refine((double)(item % 1000), 20); }

static NOINLINE double total_of(long items)
{
    double total = 0;
#pragma omp parallel for schedule(static)
    for (long item = 0; item < items; item++) {
        double value = value_of(item);
#pragma omp critical /* FAULT: each value enters a section of its own instead of a reduction */
        total += value;
    }
    return total;
}

int main(int argc, char **argv)
{
    omp_set_num_threads(threads_asked(argc, argv));
    printf("%.6e\n", total_of(8000000L * processors()));
    return 0;
}
