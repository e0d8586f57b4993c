/* A van's tour is improved by random tries: each thread takes tries, and the shortest tour is kept. */
#include "../suite.h"

enum { STOPS = 60, TRIES = 240000 };

typedef struct {
    double length;
    int order[STOPS];
} Tour;

static double east[STOPS], north[STOPS];
static Tour shortest = {1e30, {0}};

static NOINLINE double measure(const int *order)
{
    double length = 0;
    for (int stop = 0; stop < STOPS; stop++) {
        int from = order[stop], to = order[(stop + 1) % STOPS];
        double aside = east[to] - east[from], ahead = north[to] - north[from];
        length += sqrt(aside * aside + ahead * ahead);
    }
    return length;
}

/* Exchange of two stops as long as it makes the tour shorter. */
static NOINLINE double improve(int *order)
{
    double length = measure(order);
    for (int first = 0; first < STOPS - 1; first += 3) {
        int second = first + 1 + (first * 7) % (STOPS - first - 1);
        int stop = order[first];
        order[first] = order[second];
        order[second] = stop;
        double changed = measure(order);
        if (changed < length) {
            length = changed;
        } else {
            order[second] = order[first];
            order[first] = stop;
        }
    }
    return length;
}

static NOINLINE void shuffle(int *order, uint64_t seed)
{
    uint64_t state = 88172645463325252u + seed * 7919;
    for (int stop = 0; stop < STOPS; stop++)
        order[stop] = stop;
    for (int stop = STOPS - 1; stop > 0; stop--) {
        int other = (int)(next_random(&state) % (uint64_t)(stop + 1)), kept = order[stop];
        order[stop] = order[other];
        order[other] = kept;
    }
}

static NOINLINE void search_tours(int threads)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic, 50)
    for (int attempt = 0; attempt < TRIES; attempt++) {
        Tour tour;
        shuffle(tour.order, (uint64_t)attempt);
#pragma omp critical // FAULT: the tour is improved by one thread at a time
        {
            tour.length = improve(tour.order);
            if (tour.length < shortest.length)
                shortest = tour;
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t state = 4711;
    for (int stop = 0; stop < STOPS; stop++) {
        east[stop] = (double)(next_random(&state) % 10000) / 100;
        north[stop] = (double)(next_random(&state) % 10000) / 100;
    }
    search_tours(threads_asked(argc, argv));
    printf("%.6f\n", shortest.length);
    return 0;
}
