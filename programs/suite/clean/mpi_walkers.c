/* Walkers of a quantum system are moved by ranks that have equal numbers of them and agree on the energy
   after each block of steps. */
#include <mpi.h>

#include "../suite.h"

enum { WALKERS = 2000, BLOCKS = 320, STEPS = 90 };

static double place[WALKERS];

static NOINLINE double move_block(uint64_t *state, double energy)
{
    double sum = 0;
    for (int step = 0; step < STEPS; step++)
        for (int walker = 0; walker < WALKERS; walker++) {
            double shift = (double)(next_random(state) % 2001) / 1000 - 1;
            double there = place[walker] + 0.3 * shift;
            double chance = (double)(next_random(state) % 1000) / 1000;
            if (chance < exp(energy * (place[walker] * place[walker] - there * there)))
                place[walker] = there;
            sum += 0.5 * place[walker] * place[walker];
        }
    return sum / ((double)STEPS * WALKERS);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    uint64_t state = 88172645463325252 + (uint64_t)rank * 7919;
    double energy = 0.5;
    for (int block = 0; block < BLOCKS; block++) {
        double own = move_block(&state, energy), sum;
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        energy = 0.9 * energy + 0.1 * (0.25 + sum / ranks);
    }
    if (rank == 0)
        printf("%.9f\n", energy);
    MPI_Finalize();
    return 0;
}
