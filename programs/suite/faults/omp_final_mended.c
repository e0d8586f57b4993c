/* A picture of a fractal is divided into quarters until they are small, and a task draws each quarter. */
#include <omp.h>

#include "../suite.h"

enum { SIZE = 2048, LEAF = 64, GRAIN = 128, DEPTH = 1600 };

static unsigned short picture[SIZE][SIZE];

static NOINLINE void draw(int left, int top)
{
    for (int row = top; row < top + LEAF; row++)
        for (int column = left; column < left + LEAF; column++) {
            double east = 3.8 * column / SIZE - 1.4, south = 3.6 * row / SIZE - 0.9, a = 0, b = 0;
            unsigned short depth = 0;
            for (; depth < DEPTH && a * a + b * b < 4; depth++) {
                double next = a * a - b * b + east;
                b = 2 * a * b + south;
                a = next;
            }
            picture[row][column] = depth;
        }
}

/* Below a certain size it is not worth while to make tasks. */
static NOINLINE void divide(int left, int top, int size)
{
    if (size == LEAF) {
        draw(left, top);
        return;
    }
    int half = size / 2;
    for (int quarter = 0; quarter < 4; quarter++) {
        int column = left + quarter % 2 * half, row = top + quarter / 2 * half;
#pragma omp task final(size <= GRAIN)
        divide(column, row, half);
    }
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
#pragma omp parallel num_threads(threads)
#pragma omp single
    divide(0, 0, SIZE);
    long total = 0;
#pragma omp parallel for reduction(+ : total) num_threads(threads)
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++)
            total += picture[row][column];
    printf("%ld\n", total);
    return 0;
}
