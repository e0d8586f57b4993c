/* Integration by halving intervals: a task for each half until they are small, then plain calls. */
#include <omp.h>

#include "../suite.h"

static NOINLINE double height(double x) { return sin(1.0 / (x + 0.001)) + cos(30 * x); }

static NOINLINE double sum(double from, double to, int points)
{
    double total = 0, width = (to - from) / points;
    for (int point = 0; point < points; point++)
        total += height(from + (point + 0.5) * width);
    return total * width;
}

static double integral(double from, double to, int depth)
{
    if (depth == 0)
        return sum(from, to, 90000);
    double left, right, middle = (from + to) / 2;
#pragma omp task shared(left)
    left = integral(from, middle, depth - 1);
#pragma omp task shared(right)
    right = integral(middle, to, depth - 1);
#pragma omp taskwait
    return left + right;
}

int main(int argc, char **argv)
{
    double total = 0;
    omp_set_num_threads(threads_asked(argc, argv));
#pragma omp parallel
#pragma omp single
    for (int part = 0; part < processors(); part++)
        total += integral(part, part + 1, 9);
    printf("%.6f\n", total);
    return 0;
}
