/* Blocks are divided among threads, and each block's rows are divided again, by a team of its own. */
#include <omp.h>

#include "../suite.h"

#define ROWS 32

static NOINLINE double block_of(double seed)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(4 * processors()) /* FAULT: a team in a team */
    for (int row = 0; row < ROWS; row++)
        sum += refine(seed + row, 3000);
    return sum;
}

int main(int argc, char **argv)
{
    double sum = 0;
    omp_set_max_active_levels(2);
    omp_set_num_threads(threads_asked(argc, argv));
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : sum)
    for (int block = 0; block < 700 * processors(); block++)
        sum += block_of(block);
    printf("%.6f\n", sum);
    return 0;
}
