/* A histogram's moments: each thread adds up its own values. */
#include <omp.h>

#include "../suite.h"

static NOINLINE double value_of(long item) { return refine((double)(item % 1000), 20); }

static NOINLINE double total_of(long items)
{
    double total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
    for (long item = 0; item < items; item++)
        total += value_of(item);
    return total;
}

int main(int argc, char **argv)
{
    omp_set_num_threads(threads_asked(argc, argv));
    printf("%.6e\n", total_of(8000000L * processors()));
    return 0;
}
