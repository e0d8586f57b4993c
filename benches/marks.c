/* What a pair of marks takes, its begin and its end together: a few hundred nanoseconds apart, so that most
 * executions are summed up, and 20 microseconds apart, so that each is recorded. Portions of the same work
 * with marks and without take turns. Medians of portions in nanoseconds, as JSON. marks [PORTIONS] */
#include "proust.h"
#include "truth.h"
#include <string.h>

#define MOST_PORTIONS 1000
#define FREQUENT 5000
#define RARE 50

static int portions = 100;

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_time);
    return values[count / 2];
}

/* A portion of work in steps with a pair of marks each, and the same without: the difference for each. */
KEPT static double frequent(uint64_t *x)
{
    double begin = wall();
    for (int n = 0; n < FREQUENT; n++) {
        BURN(*x, 100);
    }
    double bare = wall();
    for (int n = 0; n < FREQUENT; n++) {
        proust_begin("frequent", n % 4);
        BURN(*x, 100);
        proust_end("frequent", n % 4);
    }
    return (wall() - bare - (bare - begin)) / FREQUENT;
}

/* Pairs that are looked at one by one, some work apart. */
KEPT static double rare(uint64_t *x)
{
    double bare[RARE], marked[RARE];
    for (int n = 0; n < RARE; n++) {
        BURN(*x, 10000);
        double begin = wall();
        double middle = wall();
        proust_begin("rare", PROUST_NO_NUMBER);
        proust_end("rare", PROUST_NO_NUMBER);
        double end = wall();
        bare[n] = middle - begin;
        marked[n] = end - middle;
    }
    return median(marked, RARE) - median(bare, RARE);
}

int main(int argc, char **argv)
{
    static double took[2][MOST_PORTIONS];
    if (argc > 1)
        portions = atoi(argv[1]);
    if (portions < 1 || portions > MOST_PORTIONS)
        return 2;
    uint64_t x = kept_result;
    for (int n = 0; n < portions; n++) {
        took[0][n] = frequent(&x) * 1e9;
        took[1][n] = rare(&x) * 1e9;
    }
    kept_result = x;
    printf("{\"frequent_ns\":%.2f,\"rare_ns\":%.2f}\n", median(took[0], portions), median(took[1], portions));
    return 0;
}
