/* Between two parallel steps the main thread alone fills the next table. */
#include <omp.h>

#include "../suite.h"

static NOINLINE void fill_table(double *table, int size, int step)
{
    for (int i = 0; i < size; i++) /* FAULT: done by one thread, each step, while the others wait */
        table[i] = refine(i + step, 60);
}

static NOINLINE double use_table(const double *table, int size)
{
    double total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
    for (int i = 0; i < size; i++)
        total += refine(table[i], 60);
    return total;
}

int main(int argc, char **argv)
{
    int size = 20000 * processors();
    double *table = malloc(sizeof *table * size), total = 0;
    omp_set_num_threads(threads_asked(argc, argv));
    for (int step = 0; step < 30; step++) {
        fill_table(table, size, step);
        total += use_table(table, size);
    }
    printf("%.6e\n", total);
    free(table);
    return 0;
}
