/* A Cholesky factorisation in tiles: tasks that depend on each other's tiles, many more than threads. */
#include <omp.h>

#include "../suite.h"

enum { TILE = 96, TILES = 32 };

typedef double tile[TILE][TILE];

static tile (*tiles)[TILES];

static NOINLINE void factor(tile a)
{
    for (int j = 0; j < TILE; j++)
        for (int i = j; i < TILE; i++) {
            double sum = a[i][j];
            for (int k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
        }
}

static NOINLINE void solve(tile diagonal, tile a)
{
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++) {
            double sum = a[i][j];
            for (int k = 0; k < j; k++)
                sum -= a[i][k] * diagonal[j][k];
            a[i][j] = sum / diagonal[j][j];
        }
}

static NOINLINE void update(tile left, tile right, tile a)
{
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++) {
            double sum = 0;
            for (int k = 0; k < TILE; k++)
                sum += left[i][k] * right[j][k];
            a[i][j] -= sum;
        }
}

static void factorise(void)
{
#pragma omp parallel
#pragma omp single
    for (int k = 0; k < TILES; k++) {
#pragma omp task depend(inout : tiles[k][k])
        factor(tiles[k][k]);
        for (int i = k + 1; i < TILES; i++) {
#pragma omp task depend(in : tiles[k][k]) depend(inout : tiles[i][k])
            solve(tiles[k][k], tiles[i][k]);
        }
        for (int i = k + 1; i < TILES; i++)
            for (int j = k + 1; j <= i; j++) {
#pragma omp task depend(in : tiles[i][k], tiles[j][k]) depend(inout : tiles[i][j])
                update(tiles[i][k], tiles[j][k], tiles[i][j]);
            }
    }
}

static NOINLINE void fill(int row)
{
    for (int column = 0; column < TILES; column++)
        for (int i = 0; i < TILE; i++)
            for (int j = 0; j < TILE; j++)
                tiles[row][column][i][j] = row == column && i == j ? 2000 : 1.0 / (1 + (i + j) % 7);
}

int main(int argc, char **argv)
{
    omp_set_num_threads(threads_asked(argc, argv));
    tiles = malloc(sizeof(tile) * TILES * TILES);
    double trace = 0;
#pragma omp parallel for schedule(static)
    for (int row = 0; row < TILES; row++)
        fill(row);
    factorise();
    for (int k = 0; k < TILES; k++)
        trace += tiles[k][k][TILE - 1][TILE - 1];
    printf("%.6f\n", trace);
    free(tiles);
    return 0;
}
