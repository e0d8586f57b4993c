/* Air and sea: one rank computes the air, another the sea, and they tell each other of heat and warmth. */
#include <mpi.h>

#include "../suite.h"

enum { PLACES = 500, HOURS = 80, HEAT = 3, WARMTH = 4 };

static double air[PLACES], sea[PLACES], heat[PLACES], warmth[PLACES];

static NOINLINE void move_air(void)
{
    for (int place = 0; place < PLACES; place++) {
        air[place] = refine(air[place] + 0.1 * warmth[place] + place % 7, 2400);
        heat[place] = 0.3 * (air[place] - warmth[place]);
    }
}

static NOINLINE void move_sea(void)
{
    for (int place = 0; place < PLACES; place++) {
        sea[place] = refine(sea[place] + 0.1 * heat[place] + place % 5, 2200);
        warmth[place] = 0.9 * warmth[place] + 0.1 * sea[place];
    }
}

static NOINLINE void run_air(void)
{
    for (int hour = 0; hour < HOURS; hour++) {
        move_air();
        MPI_Send(heat, PLACES, MPI_DOUBLE, 1, HEAT, MPI_COMM_WORLD);
        /* FAULT: the air waits here for the sea of this hour, which waits for the air before, by turns */
        MPI_Recv(warmth, PLACES, MPI_DOUBLE, 1, WARMTH, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static NOINLINE void run_sea(void)
{
    for (int hour = 0; hour < HOURS; hour++) {
        MPI_Recv(heat, PLACES, MPI_DOUBLE, 0, HEAT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        move_sea();
        MPI_Send(warmth, PLACES, MPI_DOUBLE, 0, WARMTH, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        run_air();
    else if (rank == 1)
        run_sea();
    double total = 0;
    for (int place = 0; place < PLACES; place++)
        total += air[place] + warmth[place];
    if (rank == 0)
        printf("%.6f\n", total);
    MPI_Finalize();
    return 0;
}
