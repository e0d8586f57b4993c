/* A bridge under load: for each place of a lorry the stiffness of all beams is put together, and then the
   bending is found by sweeps over all nodes. */
#include <omp.h>

#include "../suite.h"

enum { NODES = 40000, BEAMS = NODES - 1, PLACES = 50, SWEEPS = 40 };

static double diagonal[NODES], beside[NODES], load[NODES], bent[NODES], next[NODES];

static NOINLINE double stiffness(int beam, int place)
{
    double sum = 0;
    for (int point = 0; point < 8; point++)
        sum += refine(1 + (beam * 13 + place * 7 + point) % 17 * 0.05, 12);
    return sum;
}

static NOINLINE void assemble(int place)
{
    memset(diagonal, 0, sizeof diagonal);
    for (int beam = 0; beam < BEAMS; beam++) { /* FAULT: one thread does it, the others wait */
        double stiff = stiffness(beam, place);
        diagonal[beam] += stiff;
        diagonal[beam + 1] += stiff;
        beside[beam] = -stiff;
    }
    for (int node = 0; node < NODES; node++)
        load[node] = node / 100 == place ? 5 : 0.01;
}

static NOINLINE void sweep(double *to, const double *from, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int node = 1; node < NODES - 1; node++) {
        double pull = beside[node - 1] * from[node - 1] + beside[node] * from[node + 1];
        double there = (load[node] - pull) / diagonal[node];
        to[node] = from[node] + 0.8 * (there - from[node]) / (1 + 0.001 * sqrt(fabs(there)));
    }
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    double total = 0;
    for (int place = 0; place < PLACES; place++) {
        assemble(place);
        for (int round = 0; round < SWEEPS; round++) {
            sweep(next, bent, threads);
            sweep(bent, next, threads);
        }
        for (int node = 0; node < NODES; node++)
            total += bent[node];
    }
    printf("%.6f\n", total);
    return 0;
}
