/* Many tours through the same towns are improved; the best of all is kept in a critical section. */
#include <omp.h>

#include "../suite.h"

enum { TOWNS = 90, TOURS = 13000 };

static double place[TOWNS][2];
static double best = 1e30;
static int best_tour[TOWNS];

static void make_towns(void)
{
    uint64_t state = 88172645463325252;
    for (int town = 0; town < TOWNS; town++)
        for (int axis = 0; axis < 2; axis++)
            place[town][axis] = (double)(next_random(&state) % 10000);
}

static inline double distance(int a, int b)
{
    double x = place[a][0] - place[b][0], y = place[a][1] - place[b][1];
    return sqrt(x * x + y * y);
}

static double length(const int *tour)
{
    double sum = distance(tour[TOWNS - 1], tour[0]);
    for (int i = 1; i < TOWNS; i++)
        sum += distance(tour[i - 1], tour[i]);
    return sum;
}

static NOINLINE void improve(int *tour)
{
    for (int is_better = 1, pass = 0; is_better && pass < 12; pass++) {
        is_better = 0;
        for (int i = 0; i < TOWNS - 2; i++)
            for (int j = i + 2; j < TOWNS - (i == 0); j++) {
                int a = tour[i], b = tour[i + 1], c = tour[j], d = tour[(j + 1) % TOWNS];
                if (distance(a, c) + distance(b, d) + 1e-9 >= distance(a, b) + distance(c, d))
                    continue;
                for (int left = i + 1, right = j; left < right; left++, right--) {
                    int town = tour[left];
                    tour[left] = tour[right];
                    tour[right] = town;
                }
                is_better = 1;
            }
    }
}

int main(int argc, char **argv)
{
    make_towns();
#pragma omp parallel for num_threads(threads_asked(argc, argv)) schedule(dynamic)
    for (int number = 0; number < TOURS; number++) {
        uint64_t state = 88172645463325252 + (uint64_t)number * 7919;
        int tour[TOWNS];
        for (int i = 0; i < TOWNS; i++) {
            int other = (int)(next_random(&state) % (uint64_t)(i + 1));
            tour[i] = tour[other];
            tour[other] = i;
        }
        improve(tour);
        double found = length(tour);
#pragma omp critical
        if (found < best) {
            best = found;
            memcpy(best_tour, tour, sizeof tour);
        }
    }
    printf("%.3f\n", length(best_tour));
    return 0;
}
