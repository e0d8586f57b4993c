/* The main thread clears a large field page by page before all threads use it once. */
#include <omp.h>

#include "../suite.h"

static NOINLINE double *allocate_field(size_t cells)
{
    double *field = malloc(sizeof *field * cells);
    for (size_t cell = 0; cell < cells; cell++) /* FAULT: one thread takes all page faults */
        field[cell] = 1.0;
    return field;
}

static NOINLINE double relax(double *field, size_t cells)
{
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (size_t cell = 0; cell < cells; cell++) {
        field[cell] = sqrt(field[cell] + (double)(cell % 8));
        sum += field[cell];
    }
    return sum;
}

int main(int argc, char **argv)
{
    size_t cells = (size_t)40 << 20;
    double sum = 0;
    omp_set_num_threads(threads_asked(argc, argv));
    cells = cells / 2 * (size_t)processors();
    double *field = allocate_field(cells);
    for (int step = 0; step < 6; step++)
        sum += relax(field, cells);
    printf("%.6e\n", sum);
    free(field);
    return 0;
}
