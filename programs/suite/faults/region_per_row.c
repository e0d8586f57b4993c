/* Heat spreads along the wires of a bundle. Wires do not touch; each is worked on for all of its steps. */
#include <omp.h>

#include "../suite.h"

#define CELLS 1024
#define STEPS 60

/* Cells of the next state of a wire, from the state before it. */
static NOINLINE void heat_wire(const double *from, double *to)
{
#pragma omp parallel for schedule(static) /* FAULT: a region for a wire of a thousand cells, in each step */
    for (int cell = 1; cell < CELLS - 1; cell++)
        to[cell] = from[cell] + 0.2 * (from[cell - 1] + from[cell + 1] - 2 * from[cell])
            + 1e-6 * sqrt(from[cell] + 1);
}

static NOINLINE void heat_all(double (*wires)[2][CELLS], int count)
{
    for (int wire = 0; wire < count; wire++)
        for (int step = 0; step < STEPS; step++)
            heat_wire(wires[wire][step % 2], wires[wire][(step + 1) % 2]);
}

int main(int argc, char **argv)
{
    omp_set_num_threads(threads_asked(argc, argv));
    int count = 600 * processors();
    double(*wires)[2][CELLS] = calloc(count, sizeof *wires), sum = 0;
    for (int wire = 0; wire < count; wire++)
        wires[wire][0][CELLS / 2] = wire % 100 + 1;
    for (int round = 0; round < 3; round++)
        heat_all(wires, count);
    for (int wire = 0; wire < count; wire++)
        sum += wires[wire][0][CELLS / 2 + 3];
    printf("%.9f\n", sum);
    free(wires);
    return 0;
}
