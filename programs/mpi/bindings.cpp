/* Two ranks that call MPI by the C++ bindings that MPI 3 removed: inline functions of the library's headers,
   virtual ones among them, between the program and the library. bindings SECONDS
   Rank 0 prints for how long both ranks were in each of the three functions that call. */
#include <mpi.h>

#include "../truth.h"

static const int steps = 20;

/* Of this rank, seconds in each function. */
static double inside[3];

KEPT static void exchange(int partner)
{
    double from = wall(), sent[8] = {}, received[8];
    MPI::COMM_WORLD.Sendrecv(sent, 8, MPI::DOUBLE, partner, 3, received, 8, MPI::DOUBLE, partner, 3);
    inside[0] += wall() - from;
}

KEPT static void add_up()
{
    double from = wall(), own = 1, sum;
    MPI::COMM_WORLD.Allreduce(&own, &sum, 1, MPI::DOUBLE, MPI::SUM);
    inside[1] += wall() - from;
}

KEPT static void exchange_later(int partner)
{
    double from = wall(), sent = 1, received;
    MPI::Request requests[2];
    requests[0] = MPI::COMM_WORLD.Irecv(&received, 1, MPI::DOUBLE, partner, 4);
    requests[1] = MPI::COMM_WORLD.Isend(&sent, 1, MPI::DOUBLE, partner, 4);
    MPI::Request::Waitall(2, requests);
    inside[2] += wall() - from;
}

int main(int argc, char **argv)
{
    double seconds = seconds_argument(argc, argv, 1, 0.4);
    MPI::Init(argc, argv);
    int rank = MPI::COMM_WORLD.Get_rank();
    for (int step = 0; step < steps; step++) {
        burn_cpu(seconds / steps * (rank == 1 ? 1 : 0.25));
        exchange(1 - rank);
        burn_cpu(seconds / steps * (rank == 0 ? 0.5 : 0.1));
        add_up();
        exchange_later(1 - rank);
    }
    double all[3];
    MPI::COMM_WORLD.Reduce(inside, all, 3, MPI::DOUBLE, MPI::SUM, 0);
    if (rank == 0)
        printf("{\"program\":\"bindings\",\"exchange_s\":%.6f,\"add_up_s\":%.6f,\"exchange_later_s\":%.6f}\n",
               all[0], all[1], all[2]);
    MPI::Finalize();
    return 0;
}
