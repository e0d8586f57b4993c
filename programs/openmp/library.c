/* Regions in a library that programs load. */
#include "../truth.h"
#include <omp.h>

/* Works in ten regions of two threads for so many seconds of processor time each; what they used in all. */
double work_in_library(double seconds)
{
    double used = 0;
    for (int i = 0; i < 10; i++) {
#pragma omp parallel num_threads(2) reduction(+ : used)
        {
            double begin = thread_cpu();
            burn_cpu(seconds / 10);
            used += thread_cpu() - begin;
        }
    }
    return used;
}
