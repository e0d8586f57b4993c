/* A pollutant spreads over a lake. Ranks have equal strips of it; the map is saved now and then. */
#include <mpi.h>

#include "../suite.h"

enum { WIDTH = 400, HEIGHT = 400, STEPS = 400, EVERY = 20 };

static double now[HEIGHT + 2][WIDTH], after[HEIGHT + 2][WIDTH], whole[HEIGHT][WIDTH];
static int rank, ranks, rows;

static NOINLINE void exchange_edges(void)
{
    int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(now[1], WIDTH, MPI_DOUBLE, above, 0, now[rows + 1], WIDTH, MPI_DOUBLE, below, 0,
        MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(now[rows], WIDTH, MPI_DOUBLE, below, 1, now[0], WIDTH, MPI_DOUBLE, above, 1,
        MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static NOINLINE void spread(void)
{
    for (int row = 1; row <= rows; row++)
        for (int column = 1; column < WIDTH - 1; column++) {
            double around = now[row][column - 1] + now[row][column + 1];
            around += now[row - 1][column] + now[row + 1][column];
            after[row][column] = now[row][column] + 0.2 * (around - 4 * now[row][column])
                - 1e-4 * sqrt(fabs(now[row][column]) + 1);
        }
    memcpy(now[1], after[1], (size_t)rows * sizeof now[0]);
}

static NOINLINE void save_map(const char *path)
{
    MPI_Gather(now[1], rows * WIDTH, MPI_DOUBLE, whole, rows * WIDTH, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank > 0)
        return;
    FILE *file = fopen(path, "w");
    if (!file)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int row = 0; row < HEIGHT; row++)
        for (int column = 0; column < WIDTH; column++)
            /* FAULT: one rank writes the whole map as text, and the others wait for it */
            fprintf(file, "%d %d %.9e\n", row, column, whole[row][column]);
    fclose(file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    rows = HEIGHT / ranks;
    for (int row = 1; row <= rows; row++)
        for (int column = 0; column < WIDTH; column++)
            now[row][column] = (rank * rows + row) * 31 % 97 + column % 13;
    for (int step = 1; step <= STEPS; step++) {
        exchange_edges();
        spread();
        if (step % EVERY == 0)
            save_map(argc > 1 ? argv[1] : "map");
    }
    double own = 0, total = 0;
    for (int row = 1; row <= rows; row++)
        for (int column = 0; column < WIDTH; column++)
            own += now[row][column];
    MPI_Reduce(&own, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.6f\n", total);
    MPI_Finalize();
    return 0;
}
