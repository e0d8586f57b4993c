/* A flow on a grid with levels of refinement: each step advances the blocks of all levels, which exchange
   a few values after it. The rows of a block could be computed by several threads, too. */
#include <omp.h>

#include "../suite.h"

enum { LEVELS = 4, COLUMNS = 2048, STEPS = 325 };

/* The coarse levels cover much with few cells; most of the cells are the finest level's. */
static const int rows_of[LEVELS] = { 24, 40, 72, 860 };
static double *field[LEVELS], *next[LEVELS];

static void make_fields(void)
{
    uint64_t state = 88172645463325252;
    for (int level = 0; level < LEVELS; level++) {
        size_t cells = (size_t)(rows_of[level] + 2) * COLUMNS;
        field[level] = malloc(cells * sizeof(double));
        next[level] = malloc(cells * sizeof(double));
        for (size_t cell = 0; cell < cells; cell++)
            field[level][cell] = next[level][cell] = (double)(next_random(&state) % 1000) / 1000;
    }
}

static NOINLINE void advance_row(int level, int row)
{
    const double *from = field[level] + (size_t)row * COLUMNS;
    double *to = next[level] + (size_t)row * COLUMNS;
    for (int column = 1; column < COLUMNS - 1; column++) {
        double around = from[column - 1] + from[column + 1] + from[column - COLUMNS] + from[column + COLUMNS];
        to[column] = sqrt(0.5 * from[column] * from[column] + 0.03 * around * around) / (1 + 0.01 * around);
    }
}

static NOINLINE void advance_level(int level, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int row = 1; row <= rows_of[level]; row++)
        advance_row(level, row);
    double *old = field[level];
    field[level] = next[level];
    next[level] = old;
}

static NOINLINE void advance(int threads)
{
    for (int level = LEVELS - 1; level >= 0; level--)
        advance_level(level, threads);
}

/* The first row of a level is what the coarser one has in its middle. */
static void exchange(void)
{
    for (int level = 1; level < LEVELS; level++)
        memcpy(field[level], field[level - 1] + (size_t)(rows_of[level - 1] / 2) * COLUMNS,
               COLUMNS * sizeof(double));
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    make_fields();
    for (int step = 0; step < STEPS; step++) {
        advance(threads);
        exchange();
    }
    double sum = 0;
    for (int level = 0; level < LEVELS; level++)
        for (int row = 1; row <= rows_of[level]; row++)
            sum += field[level][(size_t)row * COLUMNS + row % COLUMNS];
    printf("%.9f\n", sum);
    return 0;
}
