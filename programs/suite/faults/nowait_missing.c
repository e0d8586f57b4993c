/* Two kinds of items, of which the first get dearer and the second cheaper: both together cost each thread
   the same. */
#include <omp.h>

#include "../suite.h"

static NOINLINE double weigh(int item, int items) { return refine(item, 400 + 60L * 400 * item / items); }

static NOINLINE double price(int item, int items)
{
    return refine(item, 400 + 60L * 400 * (items - item) / items);
}

static NOINLINE void day(double *weights, double *prices, int items)
{
#pragma omp parallel
    {
#pragma omp for schedule(static) /* FAULT: all wait here, though the prices need no weights */
        for (int item = 0; item < items; item++)
            weights[item] += weigh(item, items);
#pragma omp for schedule(static)
        for (int item = 0; item < items; item++)
            prices[item] += price(item, items);
    }
}

int main(int argc, char **argv)
{
    int items = 250 * processors();
    omp_set_num_threads(threads_asked(argc, argv));
    double *weights = calloc(items, sizeof *weights), *prices = calloc(items, sizeof *prices), sum = 0;
    for (int number = 0; number < 16; number++)
        day(weights, prices, items);
    for (int item = 0; item < items; item++)
        sum += weights[item] * prices[item];
    printf("%.6f\n", sum);
    free(weights);
    free(prices);
    return 0;
}
