/* Galaxies drift; all ranks put theirs into one file every few steps, which keeps the last two states. */
#include <mpi.h>

#include "../suite.h"

enum { GALAXIES = 60000, STEPS = 150, BETWEEN = 5 };

struct galaxy {
    double at[2], speed[2];
};

static struct galaxy galaxies[GALAXIES];

static void make_galaxies(int rank)
{
    uint64_t state = 88172645463325252 + (uint64_t)rank * 7919;
    for (int i = 0; i < GALAXIES; i++) {
        uint64_t random = next_random(&state);
        galaxies[i].at[0] = (double)(random & 0xffff) / 0x10000;
        galaxies[i].at[1] = (double)(random >> 16 & 0xffff) / 0x10000;
        galaxies[i].speed[0] = (double)(random >> 32 & 255) / 1e5;
        galaxies[i].speed[1] = (double)(random >> 40 & 255) / 1e5;
    }
}

static NOINLINE void drift(void)
{
    for (int i = 0; i < GALAXIES; i++)
        for (int axis = 0; axis < 2; axis++) {
            struct galaxy *galaxy = &galaxies[i];
            galaxy->speed[axis] -= 0.001 * sin(6 * galaxy->at[axis]) * cos(3 * galaxy->at[!axis]);
            galaxy->at[axis] += galaxy->speed[axis];
            galaxy->at[axis] -= floor(galaxy->at[axis]);
        }
}

static NOINLINE void save(MPI_File file, int rank, int ranks, int number)
{
    MPI_Offset first = ((MPI_Offset)number * ranks + rank) * sizeof galaxies;
    for (int i = 0; i < GALAXIES; i++) {
        MPI_Offset place = first + (MPI_Offset)i * (MPI_Offset)sizeof *galaxies;
        /* FAULT: a call for each galaxy, though all lie beside each other in memory and in the file */
        MPI_File_write_at(file, place, &galaxies[i], sizeof *galaxies, MPI_BYTE, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks;
    double own = 0, total = 0;
    MPI_File file;
    MPI_Offset size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    make_galaxies(rank);
    MPI_File_open(MPI_COMM_WORLD, argc > 1 ? argv[1] : "galaxies", MPI_MODE_CREATE | MPI_MODE_WRONLY,
                  MPI_INFO_NULL, &file);
    for (int step = 0; step < STEPS; step++) {
        drift();
        if (step % BETWEEN == BETWEEN - 1)
            save(file, rank, ranks, step / BETWEEN % 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &size);
    MPI_File_close(&file);
    for (int i = 0; i < GALAXIES; i++)
        own += galaxies[i].at[0] + galaxies[i].at[1];
    MPI_Reduce(&own, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.6f, %lld bytes\n", total, (long long)size);
    MPI_Finalize();
    return 0;
}
