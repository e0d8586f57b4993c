/* Ions in two halves of a trap, one for each rank: those that cross the middle go to the other rank. */
#include <mpi.h>

#include "../suite.h"

enum { IONS = 60000, STEPS = 130, ROOM = 4 * IONS };

typedef struct {
    double place[3], speed[3];
} Ion;

static Ion ion[ROOM], leaving[ROOM];
static int count;

static NOINLINE int move_ions(int rank)
{
    int kept = 0, leaves = 0;
    for (int which = 0; which < count; which++) {
        Ion *moved = &ion[which];
        for (int axis = 0; axis < 3; axis++) {
            moved->speed[axis] -= 0.3 * moved->place[axis];
            moved->place[axis] += moved->speed[axis];
        }
        if ((moved->place[0] < 0) == (rank == 0))
            ion[kept++] = *moved;
        else
            leaving[leaves++] = *moved;
    }
    count = kept;
    return leaves;
}

static NOINLINE void exchange(int rank, int leaves)
{
    int other = 1 - rank, arrives;
    MPI_Sendrecv(&leaves, 1, MPI_INT, other, 0, &arrives, 1, MPI_INT, other, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    int most = leaves > arrives ? leaves : arrives;
    for (int which = 0; which < most; which++) {
        if (which < leaves)
            MPI_Send(&leaving[which], 6, MPI_DOUBLE, other, 1, MPI_COMM_WORLD); // FAULT: one message for each
        if (which < arrives)
            MPI_Recv(&ion[count++], 6, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    uint64_t state = 77 + (uint64_t)rank;
    for (count = 0; count < IONS; count++)
        for (int axis = 0; axis < 3; axis++) {
            double place = (double)(next_random(&state) % 1000) / 1000;
            ion[count].place[axis] = axis == 0 && rank == 0 ? -place : place;
            ion[count].speed[axis] = (double)(next_random(&state) % 1000) / 1000 - 0.5;
        }
    for (int step = 0; step < STEPS; step++)
        exchange(rank, move_ions(rank));
    double sum = 0, total;
    for (int which = 0; which < count; which++)
        sum += ion[which].place[1];
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.3f\n", total);
    MPI_Finalize();
    return 0;
}
