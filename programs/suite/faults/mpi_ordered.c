/* Frames of a film are computed by all ranks by turns, and written to one file, one after the other. Where
   something moves, a frame takes much longer than elsewhere; all frames are of the same size. */
#include <mpi.h>

#include "../suite.h"

enum { FRAMES = 480, PIXELS = 8192, MOVING = 26 };

static float frame[PIXELS];

/* Each fourth scene has much to move; each rank gets as many of them as the others. */
static NOINLINE void compute_frame(int number)
{
    int rounds = number / 2 % 4 == number % 2 * 2 ? 2 * MOVING : 2;
    for (int pixel = 0; pixel < PIXELS; pixel++)
        frame[pixel] = (float)refine((pixel * 7 + number * 13) % 255, 6 * rounds);
}

static NOINLINE void write_frame(MPI_File film)
{
    /* FAULT: a call of all ranks, in which each waits for the frame before its own, in each round */
    MPI_File_write_ordered(film, frame, PIXELS, MPI_FLOAT, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_File film;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *path = argc > 1 ? argv[1] : "film";
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &film);
    double light = 0, total;
    for (int number = rank; number < FRAMES; number += ranks) {
        compute_frame(number);
        write_frame(film);
        light += frame[PIXELS / 2];
    }
    MPI_File_close(&film);
    MPI_Reduce(&light, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.3f\n", total);
    MPI_Finalize();
    return 0;
}
