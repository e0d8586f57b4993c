/*
 * Very many short calls of MPI, counted and timed by the program itself. Two ranks.
 * many accesses CALLS: each rank puts a number into the other one's memory, and completes it, so many times,
 * from two functions in turn. many messages CALLS: each rank sends so many messages to nobody; of ten blocks
 * of calls the times are told. many local CALLS: each rank packs and unpacks numbers so many times, and adds
 * up large arrays a few times, by calls that need no other rank; the times of both are told.
 */
#include "../truth.h"

#include <mpi.h>

enum { BLOCKS = 10, WORDS = 64, LARGE = 1 << 20, TIMES = 40 };

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

__attribute__((noinline)) static void pack_and_unpack(void)
{
    double numbers[WORDS] = {0};
    char packed[2 * sizeof numbers];
    for (long at = 0; at < calls / 2; at++) {
        int place = 0;
        MPI_Pack(numbers, WORDS, MPI_DOUBLE, packed, sizeof packed, &place, MPI_COMM_WORLD);
        place = 0;
        MPI_Unpack(packed, sizeof packed, &place, numbers, WORDS, MPI_DOUBLE, MPI_COMM_WORLD);
    }
}

__attribute__((noinline)) static void add_up(double *from, double *to)
{
    for (int time = 0; time < TIMES; time++)
        MPI_Reduce_local(from, to, LARGE, MPI_DOUBLE, MPI_SUM);
}

static void local(void)
{
    double *from, *to;
    MPI_Alloc_mem(LARGE * sizeof *from, MPI_INFO_NULL, &from);
    MPI_Alloc_mem(LARGE * sizeof *to, MPI_INFO_NULL, &to);
    for (int at = 0; at < LARGE; at++)
        from[at] = to[at] = at;
    double begin = wall();
    pack_and_unpack();
    double packing_s = wall() - begin;
    begin = wall();
    double begin_cpu = thread_cpu();
    add_up(from, to);
    double adding_s = wall() - begin, adding_cpu_s = thread_cpu() - begin_cpu;
    MPI_Free_mem(from);
    MPI_Free_mem(to);
    if (rank == 0)
        printf("{\"program\":\"many\",\"packs\":%ld,\"packing_s\":%.6f,\"sums\":%d,\"adding_s\":%.6f,"
               "\"adding_cpu_s\":%.6f}\n",
               calls / 2, packing_s, TIMES, adding_s, adding_cpu_s);
}

int main(int argc, char **argv)
{
    calls = argc > 2 ? atol(argv[2]) : 400000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && argv[1][0] == 'm')
        messages();
    else if (argc > 1 && argv[1][0] == 'l')
        local();
    else
        accesses();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
