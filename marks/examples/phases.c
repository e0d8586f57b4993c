/* A program with two phases. The second has two kinds of sweeps over all processors. */
#include "proust.h"
#include <stdio.h>

static double sweep(int level)
{
    double sum = 0;
    proust_begin_parallel("sweep", level);
#pragma omp parallel for reduction(+ : sum)
    for (int n = 1; n <= 20000000 << level; n++)
        sum += 1.0 / n;
    proust_iterations(20000000u << level);
    proust_end("sweep", level);
    return sum;
}

int main(void)
{
    double sum = 0;
    proust_begin("setup", PROUST_NO_NUMBER);
    for (int n = 1; n <= 100000000; n++)
        sum += 1.0 / n;
    proust_end("setup", PROUST_NO_NUMBER);
    proust_begin("solve", PROUST_NO_NUMBER);
    for (int step = 0; step < 3; step++)
        for (int level = 0; level < 2; level++)
            sum += sweep(level);
    proust_end("solve", PROUST_NO_NUMBER);
    printf("%.3f\n", sum);
    return 0;
}
