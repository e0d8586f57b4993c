/* Lines of a report are computed in parallel and laid out in order, which is most of the work. */
#include <omp.h>

#include "../suite.h"

static NOINLINE double measure(int line) { return refine(line, 4000); }

static NOINLINE double lay_out(double value) { return refine(value, 20000); }

static NOINLINE double report(int lines)
{
    double last = 0;
#pragma omp parallel for ordered schedule(dynamic, 1)
    for (int line = 0; line < lines; line++) {
        double value = measure(line);
#pragma omp ordered /* FAULT: the layout, most of the work, is inside */
        last += lay_out(value);
    }
    return last;
}

int main(int argc, char **argv)
{
    omp_set_num_threads(threads_asked(argc, argv));
    printf("%.6f\n", report(5000));
    return 0;
}
