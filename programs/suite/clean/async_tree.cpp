// A sum over a tree: each node gives half of its range to std::async, until there is a leaf for each thread.
#include <future>

#include "../suite.h"

static NOINLINE double leaf(long first, long last)
{
    double sum = 0;
    for (long i = first; i < last; i++)
        sum += refine(static_cast<double>(i), 20);
    return sum;
}

static NOINLINE double sum_of(long first, long last, int threads)
{
    if (threads == 1)
        return leaf(first, last);
    int left = threads / 2;
    long middle = first + (last - first) * left / threads;
    auto half = std::async(std::launch::async, sum_of, first, middle, left);
    double right = sum_of(middle, last, threads - left);
    return half.get() + right;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    long each = 150000L * processors();
    double sum = 0;
    for (long round = 0; round < 150; round++)
        sum += sum_of(round * each, (round + 1) * each, threads);
    std::printf("%.3f\n", sum);
}
