// Exceptions in parallel regions: each is caught in the region that it is thrown in, as it must be; and one
// leaves the function that opened a region when that is over. Checks itself; 0 = all went as without a
// measurement.
#include "../truth.h"
#include <omp.h>
#include <stdexcept>

static void deep(int level)
{
    if (level == 0)
        throw std::runtime_error("from below");
    deep(level - 1);
}

// Thrown through frames of a critical section, a task and a loop, and caught in each.
static long in_region()
{
    long caught = 0;
#pragma omp parallel num_threads(2) reduction(+ : caught)
    {
#pragma omp for schedule(dynamic, 7)
        for (int i = 0; i < 2000; i++) {
            try {
                deep(i % 20);
            } catch (const std::runtime_error &) {
                caught++;
            }
        }
#pragma omp critical
        try {
            deep(5);
        } catch (const std::runtime_error &) {
            caught++;
        }
#pragma omp single
        for (int i = 0; i < 100; i++) {
#pragma omp task shared(caught)
            try {
                deep(3);
            } catch (const std::runtime_error &) {
                kept_result = kept_result + 1;
            }
        }
    }
    return caught;
}

static void behind_region()
{
#pragma omp parallel num_threads(2)
    burn_cpu(0.002);
    throw std::logic_error("behind");
}

int main()
{
    int bad = in_region() != 2000 + 2;
    int left = 0;
    for (int i = 0; i < 50; i++) {
        try {
            behind_region();
        } catch (const std::logic_error &) {
            left++;
        }
    }
    bad += left != 50;
    printf("{\"bad\":%d}\n", bad);
    return bad != 0;
}
