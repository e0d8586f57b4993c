/* A picture of many spheres: rays are followed to the nearest of them, and rows are handed out singly. */
#include <omp.h>

#include "../suite.h"

enum { WIDTH = 1600, HEIGHT = 1000, SPHERES = 160 };

struct sphere {
    double x, y, z, radius, light;
};

static struct sphere spheres[SPHERES];

static void place_spheres(void)
{
    uint64_t state = 88172645463325252;
    for (int sphere = 0; sphere < SPHERES; sphere++) {
        spheres[sphere].x = (double)(next_random(&state) % 2000) / 1000 - 1;
        spheres[sphere].y = (double)(next_random(&state) % 2000) / 1000 - 1;
        spheres[sphere].z = 2 + (double)(next_random(&state) % 4000) / 1000;
        spheres[sphere].radius = 0.02 + (double)(next_random(&state) % 100) / 700;
        spheres[sphere].light = (double)(next_random(&state) % 256);
    }
}

/* A ray from the eye; behind its first sphere it goes on from there, darker, for three more. */
static NOINLINE double follow(double x, double y)
{
    double length = sqrt(x * x + y * y + 1), dx = x / length, dy = y / length, dz = 1 / length;
    double passed = 0, light = 0, share = 1;
    for (int bounce = 0; bounce < 4; bounce++) {
        double nearest = 1e9, seen = 0;
        for (int sphere = 0; sphere < SPHERES; sphere++) {
            const struct sphere *s = &spheres[sphere];
            double along = s->x * dx + s->y * dy + s->z * dz;
            double aside = s->x * s->x + s->y * s->y + s->z * s->z - along * along;
            double rest = s->radius * s->radius - aside;
            if (rest < 0)
                continue;
            double there = along - sqrt(rest);
            if (there > passed && there < nearest) {
                nearest = there;
                seen = s->light;
            }
        }
        light += share * seen;
        share *= 0.5;
        passed = nearest;
    }
    return light;
}

static NOINLINE double draw_row(int row)
{
    double sum = 0;
    for (int column = 0; column < WIDTH; column++)
        sum += follow((column - WIDTH / 2) * 0.7 / WIDTH, (row - HEIGHT / 2) * 0.7 / HEIGHT);
    return sum;
}

int main(int argc, char **argv)
{
    static double rows[HEIGHT];
    place_spheres();
#pragma omp parallel for schedule(dynamic) num_threads(threads_asked(argc, argv))
    for (int row = 0; row < HEIGHT; row++)
        rows[row] = draw_row(row);
    double total = 0;
    for (int row = 0; row < HEIGHT; row++)
        total += rows[row];
    printf("%.3f\n", total / WIDTH / HEIGHT);
    return 0;
}
