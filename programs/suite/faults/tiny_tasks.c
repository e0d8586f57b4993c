/* Ways through a grid, counted by recursion with a task for each call, down to the last. */
#include <omp.h>

#include "../suite.h"

static long ways(int right, int down)
{
    if (right == 0 || down == 0)
        return 1;
    long first, second;
#pragma omp task shared(first) /* FAULT: a task for each call, however little it does */
    first = ways(right - 1, down);
    second = ways(right, down - 1);
#pragma omp taskwait
    return first + second;
}

int main(int argc, char **argv)
{
    long total = 0;
    omp_set_num_threads(threads_asked(argc, argv));
#pragma omp parallel
#pragma omp single
    for (int part = 0; part < processors(); part++)
        total += ways(12, 12);
    printf("%ld\n", total);
    return 0;
}
