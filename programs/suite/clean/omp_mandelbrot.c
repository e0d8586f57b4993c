/* Rows of the Mandelbrot set differ much in cost; they are handed out a few at a time. */
#include <omp.h>

#include "../suite.h"

#define WIDTH 640

static NOINLINE long row_of(double y)
{
    long total = 0;
    for (int column = 0; column < WIDTH; column++) {
        double x = -2.0 + 2.6 * column / WIDTH, a = 0, b = 0;
        int step = 0;
        for (; step < 1200 && a * a + b * b < 4.0; step++) {
            double next = a * a - b * b + x;
            b = 2 * a * b + y;
            a = next;
        }
        total += step;
    }
    return total;
}

int main(int argc, char **argv)
{
    int rows = 2000 * processors();
    long total = 0;
    omp_set_num_threads(threads_asked(argc, argv));
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : total)
    for (int row = 0; row < rows; row++)
        total += row_of(-1.2 + 2.4 * row / rows);
    printf("%ld\n", total);
    return 0;
}
