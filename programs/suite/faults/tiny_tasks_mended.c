/* Ways through a grid, counted by recursion with a task for each call that is worth one. */
#include <omp.h>

#include "../suite.h"

#define WORTH_A_TASK 15

static long ways_alone(int right, int down)
{
    return right == 0 || down == 0 ? 1 : ways_alone(right - 1, down) + ways_alone(right, down - 1);
}

static long ways(int right, int down)
{
    if (right + down < WORTH_A_TASK)
        return ways_alone(right, down);
    long first, second;
#pragma omp task shared(first)
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
