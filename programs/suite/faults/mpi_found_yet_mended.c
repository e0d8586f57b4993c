/* Ranks look for a seed whose sequence begins with a certain pattern: each tries its own candidates, and all
   stop when one has found it. */
#include <mpi.h>

#include "../suite.h"

enum { PUZZLES = 9, ROUNDS = 200, CLOSEST = 3, BATCH = 8192 };

/* How far the sequence of a candidate is from the pattern. */
static NOINLINE uint64_t distance(uint64_t candidate, uint64_t pattern)
{
    uint64_t state = candidate * 0x9e3779b97f4a7c15 + 1;
    for (int round = 0; round < ROUNDS; round++)
        next_random(&state);
    return (state ^ pattern) >> 43;
}

static NOINLINE int has_anyone(int found)
{
    int any = 0;
    MPI_Allreduce(&found, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}

/* The smallest seed that fits: the ranks' candidates are next to each other, so that none is passed over. */
static NOINLINE long search(uint64_t pattern, int rank, int ranks)
{
    long found = 0, best = 0, candidate = 1 + rank, tried = 0;
    for (;; candidate += ranks) {
        if (!found && distance((uint64_t)candidate, pattern) < CLOSEST)
            found = candidate;
        tried++;
        if (tried % BATCH == 0 && has_anyone(found > 0))
            break;
    }
    long own = found ? found : INT32_MAX;
    MPI_Allreduce(&own, &best, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
    return best;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    uint64_t state = 88172645463325252;
    long total = 0;
    for (int puzzle = 0; puzzle < PUZZLES; puzzle++)
        total += search(next_random(&state), rank, ranks);
    if (rank == 0)
        printf("%ld\n", total);
    MPI_Finalize();
    return 0;
}
