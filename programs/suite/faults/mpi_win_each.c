/* Words are counted by ranks that each keep a part of the counts, in memory that the others may add to. */
#include <mpi.h>

#include "../suite.h"

enum { WORDS = 6000000, SLOTS = 4096, LETTERS = 24 };

/* A word's number: its letters are made and mixed. */
static NOINLINE uint64_t read_word(uint64_t *state)
{
    uint64_t hash = 14695981039346656037u;
    for (int letter = 0; letter < LETTERS; letter++)
        hash = (hash ^ (next_random(state) % 26)) * 1099511628211u;
    return hash;
}

/* The owner of a word is told by its number. */
static NOINLINE void count_word(MPI_Win counts, uint64_t word, int ranks)
{
    const long one = 1;
    int owner = (int)(word % (uint64_t)ranks);
    MPI_Aint slot = (MPI_Aint)(word / 64 % SLOTS);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, counts); /* FAULT: opens and closes an access for each word */
    MPI_Accumulate(&one, 1, MPI_LONG, owner, slot, 1, MPI_LONG, MPI_SUM, counts);
    MPI_Win_unlock(owner, counts);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    long *own, most = 0, best;
    MPI_Win counts;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win_allocate(SLOTS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &counts);
    memset(own, 0, SLOTS * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t state = 88172645463325252 + (uint64_t)rank;
    for (int word = 0; word < WORDS; word++)
        count_word(counts, read_word(&state), ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int slot = 0; slot < SLOTS; slot++)
        most = own[slot] > most ? own[slot] : most;
    MPI_Reduce(&most, &best, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld\n", best);
    MPI_Win_free(&counts);
    MPI_Finalize();
    return 0;
}
