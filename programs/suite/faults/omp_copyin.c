/* Light is followed through layers of a cloud, whose table of scattering the first thread corrects a little
   for each colour. Each thread has a table of its own, as it notes there what it has met. */
#include <omp.h>

#include "../suite.h"

enum { ENTRIES = 1 << 21, COLOURS = 420, RAYS = 8000, CHANGED = 64 };

static double table[ENTRIES];
#pragma omp threadprivate(table)

static void make_table(void)
{
    uint64_t state = 88172645463325252;
    for (int entry = 0; entry < ENTRIES; entry++)
        table[entry] = 1 + (double)(next_random(&state) % 1000) / 1000;
}

/* A colour changes the few entries that belong to the droplets of its size. */
static void correct_table(int colour)
{
    for (int entry = 0; entry < CHANGED; entry++)
        table[(colour * CHANGED + entry) % ENTRIES] *= 1.0001;
}

static NOINLINE double follow(int ray, int colour)
{
    double depth = 0;
    for (int layer = 0; layer < 24; layer++)
        depth += refine(table[(ray * 511 + colour * 64 + layer * 17) % ENTRIES], 8);
    return depth;
}

static NOINLINE double cross(int colour, int threads)
{
    double light = 0;
/* FAULT: the whole table is copied for each thread and colour, though few entries have changed */
#pragma omp parallel for copyin(table) reduction(+ : light) schedule(static) num_threads(threads)
    for (int ray = 0; ray < RAYS; ray++)
        light += follow(ray, colour);
    return light;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    make_table();
    double total = 0;
    for (int colour = 0; colour < COLOURS; colour++) {
        correct_table(colour);
        total += cross(colour, threads);
    }
    printf("%.4f\n", total / COLOURS);
    return 0;
}
