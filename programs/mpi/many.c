/*
 * Very many short calls of MPI, counted and timed by the program itself. Two ranks.
 * many accesses CALLS: each rank puts a number into the other one's memory, and completes it, so many times,
 * from two functions in turn. many messages CALLS: each rank sends so many messages to nobody; of ten blocks
 * of calls the times are told.
 */
#include "../truth.h"

#include <mpi.h>

enum { BLOCKS = 10, WORDS = 64 };

static int rank;
static long calls;

__attribute__((noinline)) static void put_one(MPI_Win window, long at)
{
    double number = (double)at;
    MPI_Put(&number, 1, MPI_DOUBLE, 1 - rank, at % WORDS, 1, MPI_DOUBLE, window);
    MPI_Win_flush(1 - rank, window);
}

__attribute__((noinline)) static void put_two(MPI_Win window, long at)
{
    double numbers[2] = {(double)at, 1};
    MPI_Put(numbers, 2, MPI_DOUBLE, 1 - rank, at % (WORDS / 2), 2, MPI_DOUBLE, window);
    MPI_Win_flush(1 - rank, window);
}

static void accesses(void)
{
    double *memory;
    MPI_Win window;
    MPI_Win_allocate(WORDS * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = wall();
    for (long at = 0; at < calls / 4; at++) {
        put_one(window, at);
        put_two(window, at);
    }
    double seconds = wall() - begin;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    if (rank == 0)
        printf("{\"program\":\"many\",\"calls\":%ld,\"seconds\":%.6f}\n", calls, seconds);
}

__attribute__((noinline)) static void send_to_nobody(long count)
{
    for (long at = 0; at < count; at++)
        MPI_Send(&rank, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
}

static void messages(void)
{
    double block_s[BLOCKS];
    for (int block = 0; block < BLOCKS; block++) {
        double begin = wall();
        send_to_nobody(calls / BLOCKS);
        block_s[block] = wall() - begin;
    }
    if (rank != 0)
        return;
    printf("{\"program\":\"many\",\"calls\":%ld,\"block_s\":[", calls);
    for (int block = 0; block < BLOCKS; block++)
        printf("%s%.6f", block ? "," : "", block_s[block]);
    printf("]}\n");
}

int main(int argc, char **argv)
{
    calls = argc > 2 ? atol(argv[2]) : 400000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && argv[1][0] == 'm')
        messages();
    else
        accesses();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
