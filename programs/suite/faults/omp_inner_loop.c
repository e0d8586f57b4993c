/* A dense system of equations is brought to triangular form by elimination. */
#include <omp.h>

#include "../suite.h"

enum { SIZE = 720 };

static double matrix[SIZE][SIZE];

static void fill(void)
{
    uint64_t state = 88172645463325252;
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++)
            matrix[row][column] = (double)(next_random(&state) % 1000) / 1000 + (row == column ? SIZE : 0);
}

static NOINLINE void eliminate(int threads)
{
    for (int pivot = 0; pivot < SIZE - 1; pivot++)
        for (int row = pivot + 1; row < SIZE; row++) {
            double factor = matrix[row][pivot] / matrix[pivot][pivot];
#pragma omp parallel for num_threads(threads) /* FAULT: a region for each row of each step */
            for (int column = pivot; column < SIZE; column++)
                matrix[row][column] -= factor * matrix[pivot][column];
        }
}

int main(int argc, char **argv)
{
    fill();
    eliminate(threads_asked(argc, argv));
    double logarithm = 0;
    for (int row = 0; row < SIZE; row++)
        logarithm += log(fabs(matrix[row][row]));
    printf("%.6f\n", logarithm);
    return 0;
}
