/* Stars of a sky, whose light curves differ much in length, are handed out as tasks of eight stars. */
#include <omp.h>

#include "../suite.h"

static NOINLINE double period(unsigned long star)
{
    uint64_t state = 88172645463325252u + star;
    next_random(&state);
    long length = 200 + (long)(next_random(&state) % 20000);
    return refine(star, length);
}

static NOINLINE void search(double *periods, unsigned long stars)
{
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(8)
    for (unsigned long star = 0; star < stars; star++)
        periods[star] = period(star);
}

int main(int argc, char **argv)
{
    unsigned long stars = 14000ul * processors();
    omp_set_num_threads(threads_asked(argc, argv));
    double *periods = calloc(stars, sizeof *periods), sum = 0;
    search(periods, stars);
    for (unsigned long star = 0; star < stars; star++)
        sum += periods[star];
    printf("%.6f\n", sum);
    free(periods);
    return 0;
}
