/* Two models of the weather are fed by two groups of threads. A model takes one reading at a time. */
#include <omp.h>

#include "../suite.h"

static double warmth, wind;

static NOINLINE double decode(int reading) { return refine(reading, 3000); }

static NOINLINE void add_warmth(double value)
{
#pragma omp critical /* FAULT: without a name, it is the same as that of the other model */
    warmth += refine(value, 9000);
}

static NOINLINE void add_wind(double value)
{
#pragma omp critical
    wind += refine(value, 9000);
}

/* Half of the threads, or one that does both, for each of the models. */
static NOINLINE void feed(int readings)
{
#pragma omp parallel
    {
        int team = omp_get_num_threads(), thread = omp_get_thread_num(), half = (team + 1) / 2;
        for (int reading = thread / 2; thread % 2 == 0 && reading < readings; reading += half)
            add_warmth(decode(reading));
        int second = team < 2 ? 1 : team / 2;
        for (int reading = thread / 2; (thread % 2 || team < 2) && reading < readings; reading += second)
            add_wind(decode(reading));
    }
}

int main(int argc, char **argv)
{
    omp_set_num_threads(threads_asked(argc, argv));
    feed(4000 * processors());
    printf("%.4f\n", warmth + wind);
    return 0;
}
