/* A filter over many short rows: the parallel loop is the inner one, with its barrier for each row. */
#include <omp.h>

#include "../suite.h"

#define WIDTH 64

static NOINLINE void smooth(double *image, int rows)
{
#pragma omp parallel
    for (int row = 0; row < rows; row++)
#pragma omp for schedule(static) /* FAULT: a barrier after each short row */
        for (int column = 0; column < WIDTH; column++)
            image[row * WIDTH + column] = refine(image[row * WIDTH + column], 2);
}

int main(int argc, char **argv)
{
    int rows = 20000 * processors();
    double *image = calloc((size_t)rows * WIDTH, sizeof *image), sum = 0;
    omp_set_num_threads(threads_asked(argc, argv));
    for (int pass = 0; pass < 5; pass++)
        smooth(image, rows);
    for (int i = 0; i < rows * WIDTH; i += 97)
        sum += image[i];
    printf("%.6f\n", sum);
    free(image);
    return 0;
}
