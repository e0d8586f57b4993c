/*
 * A Jacobi iteration that is distributed over the ranks, with a mark for each part: work that all repeat, a
 * loop that is uneven on purpose, shadow edges, a reduction, and input and output by rank 0. Every rank keeps
 * the begin and end of each of its operations; rank 0 computes from them what an analyser must find.
 * jacobi SECONDS
 */
#include "../truth.h"

#include "proust.h"

#include <fcntl.h>
#include <mpi.h>
#include <stddef.h>
#include <string.h>

enum { STEPS = 8, MOST_RANKS = 8, WIDTH = 1024, ROWS = 32, BLOCK = 1 << 22, BLOCKS = 12 };

/* The operations whose instances are compared over the ranks. */
enum { START_REDUCTION, WAIT_REDUCTION, START_SHADOW, WAIT_SHADOW, BROADCAST, GATHER, BARRIER, KINDS };
static const char *const names[KINDS] = {"start_reduction", "wait_reduction", "start_shadow", "wait_shadow",
                                         "broadcast",       "gather",         "barrier"};

struct instance {
    double begin, end;
};

/* What one rank measures; doubles only, so that it is sent as such. */
struct own {
    double wall_s, setup_s, loop_s, io_s;
    struct instance of[KINDS][STEPS];
};

static int rank, ranks;
static struct own own;
static double a[ROWS + 2][WIDTH], b[ROWS + 2][WIDTH];
static char block[BLOCK];
static volatile uint64_t sink;

static void begin(int kind, int n) { own.of[kind][n].begin = wall(); }
static void end(int kind, int n) { own.of[kind][n].end = wall(); }

/* By the clock, so that it is known however loaded the machine is. */
static void burn_wall(double seconds)
{
    const double until = wall() + seconds;
    uint64_t x = 1;
    while (wall() < until)
        BURN(x, UNIT);
    sink = x;
}

/* Every rank does all of it. */
KEPT static void setup(double seconds)
{
    const double from = wall();
    proust_begin_replicated("setup", PROUST_NO_NUMBER, 0);
    burn_wall(seconds);
    for (int i = 0; i < ROWS + 2; i++)
        for (int j = 0; j < WIDTH; j++)
            a[i][j] = (double)((i * j) % 7);
    proust_end("setup", PROUST_NO_NUMBER);
    own.setup_s = wall() - from;
}

/* Rank 0 reads, and hands on what it has read. */
KEPT static void input(int file, double *values, int count)
{
    proust_begin("input", PROUST_NO_NUMBER);
    if (rank == 0) {
        const double from = wall();
        for (int n = 0; n < BLOCKS; n++)
            if (pread(file, block, BLOCK, (off_t)(n % 2) * BLOCK) < 0)
                abort();
        memcpy(values, block, (size_t)count * sizeof *values);
        own.io_s += wall() - from;
    }
    begin(BROADCAST, 0);
    MPI_Bcast(values, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    end(BROADCAST, 0);
    proust_end("input", PROUST_NO_NUMBER);
}

KEPT static double sweep(double seconds)
{
    const double from = wall();
    double change = 0;
    proust_begin_parallel("sweep", PROUST_NO_NUMBER);
    do {
        change = 0;
        for (int i = 1; i <= ROWS; i++)
            for (int j = 1; j < WIDTH - 1; j++) {
                b[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) / 4;
                change += b[i][j] > a[i][j] ? b[i][j] - a[i][j] : a[i][j] - b[i][j];
            }
    } while (wall() - from < seconds);
    proust_iterations(ROWS);
    proust_end("sweep", PROUST_NO_NUMBER);
    own.loop_s += wall() - from;
    return change;
}

/* The edges travel while the inner part is computed. */
KEPT static void exchange(int n, double overlapped_s)
{
    const int left = rank == 0 ? MPI_PROC_NULL : rank - 1;
    const int right = rank + 1 == ranks ? MPI_PROC_NULL : rank + 1;
    MPI_Request all[4];
    begin(START_SHADOW, n);
    MPI_Irecv(a[0], WIDTH, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &all[0]);
    MPI_Irecv(a[ROWS + 1], WIDTH, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &all[1]);
    MPI_Isend(b[1], WIDTH, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &all[2]);
    MPI_Isend(b[ROWS], WIDTH, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &all[3]);
    end(START_SHADOW, n);
    burn_wall(overlapped_s);
    begin(WAIT_SHADOW, n);
    MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
    end(WAIT_SHADOW, n);
}

/* Rank 0 does in full what the others do half of. */
KEPT static double iterate(double seconds)
{
    const double part_s = seconds / STEPS;
    double change = 0;
    proust_begin("iterate", PROUST_NO_NUMBER);
    for (int n = 0; n < STEPS; n++) {
        MPI_Request request;
        double mine = sweep(rank == 0 ? part_s : part_s / 2);
        exchange(n, part_s / 8);
        begin(START_REDUCTION, n);
        MPI_Iallreduce(&mine, &change, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        end(START_REDUCTION, n);
        burn_wall(part_s / 8);
        begin(WAIT_REDUCTION, n);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        end(WAIT_REDUCTION, n);
    }
    begin(BARRIER, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    end(BARRIER, 0);
    proust_end("iterate", PROUST_NO_NUMBER);
    return change;
}

/* Rank 0 collects, and writes. */
KEPT static void output(int file)
{
    static double all[MOST_RANKS * WIDTH];
    proust_begin("output", PROUST_NO_NUMBER);
    begin(GATHER, 0);
    MPI_Gather(b[1], WIDTH, MPI_DOUBLE, all, WIDTH, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    end(GATHER, 0);
    if (rank == 0) {
        const double from = wall();
        memcpy(block, all, sizeof all);
        for (int n = 0; n < BLOCKS; n++)
            if (pwrite(file, block, BLOCK, (off_t)(n % 2) * BLOCK) < 0)
                abort();
        own.io_s += wall() - from;
    }
    proust_end("output", PROUST_NO_NUMBER);
}

static double later(double a, double b) { return a > b ? a - b : 0; }

/* Over the ranks that a rank exchanges its edges with, or over all. */
static int meets(int kind, int one, int other)
{
    const int is_shadow = kind == START_SHADOW || kind == WAIT_SHADOW;
    return !is_shadow || (one - other >= -1 && one - other <= 1);
}

static void print_columns(const struct own *all)
{
    for (int kind = 0; kind < KINDS; kind++) {
        double inside = 0, synchronization = 0, variation = 0, overlap = 0;
        for (int n = 0; n < STEPS; n++)
            for (int p = 0; p < ranks; p++) {
                const struct instance *mine = &all[p].of[kind][n];
                double last_begin = 0, last_end = 0, last_start = 0;
                for (int q = 0; q < ranks; q++) {
                    if (!meets(kind, p, q))
                        continue;
                    const struct instance *of = &all[q].of[kind][n];
                    const double started = kind > 0 ? all[q].of[kind - 1][n].end : 0;
                    last_begin = of->begin > last_begin ? of->begin : last_begin;
                    last_end = of->end > last_end ? of->end : last_end;
                    if (kind == WAIT_REDUCTION || kind == WAIT_SHADOW)
                        last_start = started > last_start ? started : last_start;
                }
                inside += mine->end - mine->begin;
                synchronization += later(last_begin, mine->begin);
                variation += later(last_end, mine->end);
                if (last_start > 0)
                    overlap += later(mine->begin, last_start);
            }
        printf(",\"%s\":{\"communication_s\":%.6f,\"synchronization_s\":%.6f,\"variation_s\":%.6f,"
               "\"overlap_s\":%.6f}",
               names[kind], inside, synchronization, variation, overlap);
    }
}

static void print_array(const char *name, const struct own *all, size_t field)
{
    printf(",\"%s\":[", name);
    for (int p = 0; p < ranks; p++)
        printf("%s%.6f", p ? "," : "", ((const double *)&all[p])[field]);
    printf("]");
}

int main(int argc, char **argv)
{
    static struct own all[MOST_RANKS];
    static double values[WIDTH];
    const double seconds = seconds_argument(argc, argv, 1, 1.0);
    char name[] = "/tmp/jacobi-mpi-XXXXXX";
    int file = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > MOST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank == 0) {
        file = mkstemp(name);
        for (int n = 0; n < 2; n++)
            if (pwrite(file, block, BLOCK, (off_t)n * BLOCK) < 0)
                abort();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double from = wall();
    proust_begin("jacobi", PROUST_NO_NUMBER);
    setup(seconds * 0.4);
    input(file, values, WIDTH);
    const double change = iterate(seconds);
    output(file);
    proust_end("jacobi", PROUST_NO_NUMBER);
    own.wall_s = wall() - from;
    enum { DOUBLES = sizeof own / sizeof(double) };
    MPI_Gather(&own, DOUBLES, MPI_DOUBLE, all, DOUBLES, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        close(file);
        unlink(name);
        printf("{\"ranks\":%d,\"steps\":%d,\"rows\":%d,\"change\":%d", ranks, STEPS, ROWS, change >= 0);
        print_array("wall_s", all, offsetof(struct own, wall_s) / sizeof(double));
        print_array("setup_s", all, offsetof(struct own, setup_s) / sizeof(double));
        print_array("loop_s", all, offsetof(struct own, loop_s) / sizeof(double));
        print_array("io_s", all, offsetof(struct own, io_s) / sizeof(double));
        print_columns(all);
        printf("}\n");
    }
    MPI_Finalize();
    return 0;
}
