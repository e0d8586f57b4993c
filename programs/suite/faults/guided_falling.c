/* Particles in a box: each is compared with all that come after it in the list. */
#include <omp.h>

#include "../suite.h"

struct particle {
    double x, y, z, charge;
};

static struct particle *make_box(int count)
{
    struct particle *box = malloc(count * sizeof *box);
    uint64_t state = 88172645463325252;
    for (int i = 0; i < count; i++) {
        box[i].x = next_random(&state) % 1000 / 10.0;
        box[i].y = next_random(&state) % 1000 / 10.0;
        box[i].z = next_random(&state) % 1000 / 10.0;
        box[i].charge = next_random(&state) % 3 - 1.0;
    }
    return box;
}

static NOINLINE double energy_with(const struct particle *box, int first, int count)
{
    const struct particle *a = &box[first];
    double sum = 0;
    for (int other = first + 1; other < count; other++) {
        const struct particle *b = &box[other];
        double x = a->x - b->x, y = a->y - b->y, z = a->z - b->z;
        sum += a->charge * b->charge / (0.1 + sqrt(x * x + y * y + z * z));
    }
    return sum;
}

static NOINLINE double energy(const struct particle *box, int count)
{
    double sum = 0;
#pragma omp parallel for schedule(guided) reduction(+ : sum) /* FAULT: the first piece costs most */
    for (int first = 0; first < count; first++)
        sum += energy_with(box, first, count);
    return sum;
}

int main(int argc, char **argv)
{
    int count = 14000;
    struct particle *box = make_box(count);
    omp_set_num_threads(threads_asked(argc, argv));
    double sum = 0;
    for (int step = 0; step < 4 * processors(); step++) {
        sum += energy(box, count);
        box[step].x += 0.5;
    }
    printf("%.4f\n", sum);
    free(box);
    return 0;
}
