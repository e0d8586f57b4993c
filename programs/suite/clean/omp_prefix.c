/* Rainfall at many stations: what has fallen up to each hour, summed up by blocks. Each thread sums its block
   up, one adds the few sums of the blocks, and each thread writes what had fallen before to its own. */
#include <omp.h>

#include "../suite.h"

enum { HOURS = 200000, STATIONS = 46, MOST_THREADS = 1024 };

static double fallen[HOURS], until[HOURS];
static double before[MOST_THREADS + 1];

/* What a gauge says, corrected for wind: the same for an hour whoever asks. */
static inline double measured(int station, int hour)
{
    double wind = (double)((hour * 7919l + station * 31l) % 1009) / 100;
    return refine(wind, 70);
}

static NOINLINE void sum_block(int station, int first, int end, int number)
{
    double sum = 0;
    for (int hour = first; hour < end; hour++) {
        fallen[hour] = floor(measured(station, hour) * 64) / 64;
        sum += fallen[hour];
        until[hour] = sum;
    }
    before[number + 1] = sum;
}

static NOINLINE void add_before(int first, int end, double sum)
{
    for (int hour = first; hour < end; hour++)
        until[hour] += sum;
}

static NOINLINE void sum_up(int station, int threads)
{
#pragma omp parallel num_threads(threads)
    {
        int number = omp_get_thread_num(), count = omp_get_num_threads();
        int first = (int)((long)HOURS * number / count), end = (int)((long)HOURS * (number + 1) / count);
        sum_block(station, first, end, number);
#pragma omp barrier
#pragma omp single
        for (int i = 1; i <= count; i++)
            before[i] += before[i - 1];
        add_before(first, end, before[number]);
    }
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    double total = 0;
    if (threads > MOST_THREADS)
        threads = MOST_THREADS;
    for (int station = 0; station < STATIONS; station++) {
        sum_up(station, threads);
        total += until[HOURS - 1] + until[HOURS / 3];
    }
    printf("%.3f\n", total);
    return 0;
}
