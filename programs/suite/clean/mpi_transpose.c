/* A field is filtered along its rows and its columns by turns; between them all ranks exchange equal tiles.
   Ranks have equal numbers of rows and some milliseconds of work between two exchanges. */
#include <mpi.h>

#include "../suite.h"

enum { SIDE = 512, STEPS = 90, ROUNDS = 26 };

static double field[SIDE][SIDE], packed[SIDE * SIDE], tiles[SIDE * SIDE];

static NOINLINE void filter_rows(int rows)
{
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < SIDE; column++)
            field[row][column] = refine(field[row][column], ROUNDS);
}

/* The columns of the whole field become the rows of the ranks. */
static NOINLINE void transpose(int rows, int ranks)
{
    double *to = packed;
    for (int rank = 0; rank < ranks; rank++)
        for (int column = 0; column < rows; column++)
            for (int row = 0; row < rows; row++)
                *to++ = field[row][rank * rows + column];
    MPI_Alltoall(packed, rows * rows, MPI_DOUBLE, tiles, rows * rows, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int rank = 0; rank < ranks; rank++)
        for (int column = 0; column < rows; column++)
            memcpy(&field[column][rank * rows], &tiles[(rank * rows + column) * rows],
                   (size_t)rows * sizeof(double));
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int rows = SIDE / ranks;
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < SIDE; column++)
            field[row][column] = (rank * rows + row) * 31 % 97 + column * 17 % 89;
    for (int step = 0; step < STEPS; step++) {
        filter_rows(rows);
        transpose(rows, ranks);
    }
    double own = 0, total = 0;
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < SIDE; column++)
            own += field[row][column];
    MPI_Reduce(&own, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.6f\n", total);
    MPI_Finalize();
    return 0;
}
