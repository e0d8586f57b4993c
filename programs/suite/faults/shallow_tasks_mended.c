/* Stars are sorted into a tree of cells, by tasks; the light of each cell is then known to its mother. */
#include <omp.h>

#include "../suite.h"

enum { STARS = 3000000, LEAF = 12 };

struct star {
    float at[2], light;
};

static struct star *make_sky(void)
{
    uint64_t state = 88172645463325252;
    struct star *stars = malloc(STARS * sizeof *stars);
    for (int i = 0; i < STARS; i++) {
        uint64_t random = next_random(&state);
        float x = (float)(random & 0xffffff) / 0x1000000, y = (float)(random >> 40) / 0x1000000;
        int is_field = i % 16 == 0;
        stars[i] = (struct star){{is_field ? x : x * x * x * 0.5f, is_field ? y : y * y}, x + y};
    }
    return stars;
}

static NOINLINE struct star *divide(struct star *first, struct star *end, int axis, float middle)
{
    while (first < end)
        if (first->at[axis] < middle) {
            first++;
        } else {
            struct star star = *--end;
            *end = *first;
            *first = star;
        }
    return first;
}

static NOINLINE double leaf_light(const struct star *first, const struct star *end)
{
    double light = 0;
    for (; first < end; first++)
        light += refine(first->light, 60);
    return light;
}

static NOINLINE double build(struct star *first, struct star *end, const float *from, float side, int depth)
{
    if (end - first <= LEAF || depth > 40)
        return leaf_light(first, end);
    int axis = depth & 1;
    float half = axis ? side / 2 : side, middle = from[axis] + side / 2, other[2] = {from[0], from[1]};
    struct star *cut = divide(first, end, axis, middle);
    double near, far;
    other[axis] = middle;
#pragma omp task shared(near) if (depth < 12)
    near = build(first, cut, from, half, depth + 1);
    far = build(cut, end, other, half, depth + 1);
#pragma omp taskwait
    return near + far;
}

int main(int argc, char **argv)
{
    struct star *stars = make_sky();
    float origin[2] = {0, 0};
    double light;
#pragma omp parallel num_threads(threads_asked(argc, argv))
#pragma omp single
    light = build(stars, stars + STARS, origin, 1, 0);
    printf("%.3e\n", light);
    free(stars);
    return 0;
}
