// A tree of regions is searched: for the left half of a region a task is started as long as threads are free.
#include <future>

#include "../suite.h"

static NOINLINE double search_leaf(long region) { return refine(double(region % 1009), 2500); }

static NOINLINE double search_range(long first, long last)
{
    double best = 0;
    for (long region = first; region < last; region++)
        best = std::max(best, search_leaf(region) - double(region % 7) / 100);
    return best;
}

static NOINLINE double search(long first, long last, int threads)
{
    if (threads < 2)
        return search_range(first, last);
    long middle = first + (last - first) * (threads / 2) / threads;
    auto task = std::async(std::launch::async, search, first, middle, threads / 2);
    double left = task.get(); // FAULT: waits for the left half before it begins with the right one
    double right = search(middle, last, threads - threads / 2);
    return std::max(left, right);
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    double sum = 0;
    for (long map = 0; map < 20; map++) {
        long first = map * 100000;
        sum += search(first, first + 2200 * processors(), threads);
    }
    printf("%.9f\n", sum);
    return 0;
}
