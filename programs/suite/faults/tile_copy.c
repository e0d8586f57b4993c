/* A map is drawn from tiles of heights, which are kept in a cache that all threads share. */
#include <omp.h>

#include "../suite.h"

enum { TILES = 96, SIDE = 192, VIEWS = 5200, PLACES = 700 };

struct tile {
    int number;
    float heights[SIDE * SIDE];
};

static struct tile *cache[TILES];

/* Heights of a tile, made when somebody asks for it the first time. */
static struct tile *load(int number)
{
    struct tile *tile = malloc(sizeof *tile);
    uint64_t state = 88172645463325252 + (uint64_t)number * 7919;
    tile->number = number;
    for (int place = 0; place < SIDE * SIDE; place++)
        tile->heights[place] = (float)(next_random(&state) % 9000) / 10;
    return tile;
}

static NOINLINE void get_tile(int number, struct tile *copy)
{
#pragma omp critical(tiles)
    {
        if (!cache[number])
            cache[number] = load(number);
        memcpy(copy, cache[number], sizeof *copy); /* FAULT: copies a whole tile while the cache is locked */
    }
}

/* Light on some places of a tile, by the slope there. */
static NOINLINE double draw(const struct tile *tile, int view)
{
    double light = 0;
    for (int number = 0; number < PLACES; number++) {
        int place = (number * 251 + view * 31) % (SIDE * (SIDE - 1) - 1);
        double east = tile->heights[place + 1] - tile->heights[place];
        double south = tile->heights[place + SIDE] - tile->heights[place];
        light += 1 / sqrt(1 + east * east + south * south);
    }
    return light;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    double total = 0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
    {
        struct tile *own = malloc(sizeof *own);
        for (int pass = 0; pass < 28; pass++) {
#pragma omp for schedule(static)
            for (int view = 0; view < VIEWS; view++) {
                get_tile((view * 37 + pass) % TILES, own);
                total += draw(own, view);
            }
        }
        free(own);
    }
    printf("%.4f\n", total);
    return 0;
}
