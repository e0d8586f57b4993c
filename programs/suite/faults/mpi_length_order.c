/* Proteins are compared with a query by dynamic programming; the ranks share the proteins of each batch. */
#include <mpi.h>

#include "../suite.h"

enum { BATCHES = 36, PROTEINS = 160, LONGEST = 900, QUERY = 260 };

static char protein[PROTEINS][LONGEST], query[QUERY];
static int length[PROTEINS];

static int by_size(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

static void read_batch(int batch)
{
    uint64_t state = 5000 + (uint64_t)batch;
    for (int which = 0; which < PROTEINS; which++)
        length[which] = 60 + (int)(next_random(&state) % (LONGEST - 60));
    qsort(length, PROTEINS, sizeof length[0], by_size);
    for (int which = 0; which < PROTEINS; which++)
        for (int place = 0; place < length[which]; place++)
            protein[which][place] = (char)('A' + next_random(&state) % 20);
}

static NOINLINE int align(const char *text, int count)
{
    static int row[QUERY + 1];
    int best = 0;
    memset(row, 0, sizeof row);
    for (int place = 0; place < count; place++) {
        int corner = 0;
        for (int at = 1; at <= QUERY; at++) {
            int score = corner + (text[place] == query[at - 1] ? 5 : -3);
            corner = row[at];
            if (row[at] - 4 > score)
                score = row[at] - 4;
            if (row[at - 1] - 4 > score)
                score = row[at - 1] - 4;
            row[at] = score > 0 ? score : 0;
            if (row[at] > best)
                best = row[at];
        }
    }
    return best;
}

static NOINLINE long compare_batch(int rank, int ranks)
{
    long sum = 0;
    int share = PROTEINS / ranks;
    for (int which = rank * share; which < (rank + 1) * share; which++) // FAULT: the last have the longest
        sum += align(protein[which], length[which]);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    long total = 0;
    uint64_t state = 42;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int at = 0; at < QUERY; at++)
        query[at] = (char)('A' + next_random(&state) % 20);
    for (int batch = 0; batch < BATCHES; batch++) {
        long mine, all;
        read_batch(batch);
        mine = compare_batch(rank, ranks);
        MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        total += all;
    }
    if (rank == 0)
        printf("%ld\n", total);
    MPI_Finalize();
    return 0;
}
