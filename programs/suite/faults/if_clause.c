/* Light is traced for the rows of a picture and then shaded, both by loops for all threads. */
#include <omp.h>

#include "../suite.h"

enum { COLUMNS = 64 };

static int rows;
static double *light, *picture;

static void trace_rows(int frame)
{
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < COLUMNS; column++)
            light[row * COLUMNS + column] = refine(row + frame + column, 120);
}

static NOINLINE void shade_rows(void)
{
    /* Small pictures are not worth a team; the limit is from a time when a row was little work. */
#pragma omp parallel for schedule(static) if (rows > 10000) /* FAULT: pictures have far fewer rows */
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < COLUMNS; column++)
            picture[row * COLUMNS + column] += refine(light[row * COLUMNS + column], 80);
}

int main(int argc, char **argv)
{
    omp_set_num_threads(threads_asked(argc, argv));
    rows = 240 * processors();
    light = calloc((size_t)rows * COLUMNS, sizeof *light);
    picture = calloc((size_t)rows * COLUMNS, sizeof *picture);
    for (int frame = 0; frame < 40; frame++) {
        trace_rows(frame);
        shade_rows();
    }
    double sum = 0;
    for (int i = 0; i < rows * COLUMNS; i++)
        sum += picture[i];
    printf("%.6f\n", sum);
    free(light);
    free(picture);
    return 0;
}
