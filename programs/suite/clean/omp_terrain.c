/* How far one sees from the points of a hilly land: points are given out to threads as they get free. */
#include "../suite.h"

enum { SIDE = 400, POINTS = 10000, RAYS = 120 };

static float height[SIDE][SIDE];
static int seen[POINTS];

static NOINLINE void raise_hills(int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++)
            height[row][column] =
                (float)(40 * sin(row * 0.031) * cos(column * 0.027) + 9 * sin(row * column * 0.001));
}

static NOINLINE int look_around(int point)
{
    int row = (point * 7919) % SIDE, column = (point * 6007) % SIDE, count = 0;
    for (int ray = 0; ray < RAYS; ray++) {
        float down = (float)sin(ray * 6.2832 / RAYS), along = (float)cos(ray * 6.2832 / RAYS), steepest = -9;
        for (int far = 1; far < 260; far++) {
            int to = (row + (int)(down * (float)far) + SIDE) % SIDE;
            int at = (column + (int)(along * (float)far) + SIDE) % SIDE;
            float slope = (height[to][at] - height[row][column] - 1.7f) / (float)far;
            if (slope > steepest) {
                steepest = slope;
                count++;
            }
        }
    }
    return count;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    long total = 0;
    raise_hills(threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 10) reduction(+ : total)
    for (int point = 0; point < POINTS; point++) {
        seen[point] = look_around(point);
        total += seen[point];
    }
    printf("%ld\n", total);
    return 0;
}
