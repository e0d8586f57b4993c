// Queens on a chess board: threads take placings of the first two and count how the others can stand.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "../suite.h"

constexpr int size = 14;

// Bits of the columns and diagonals that are attacked in this row.
static long count(unsigned columns, unsigned left, unsigned right, int row)
{
    if (row == size)
        return 1;
    long sum = 0;
    for (unsigned open = ~(columns | left | right) & ((1u << size) - 1); open != 0; open &= open - 1) {
        unsigned queen = open & -open;
        sum += count(columns | queen, (left | queen) << 1, (right | queen) >> 1, row + 1);
    }
    return sum;
}

static NOINLINE long solve(int job)
{
    unsigned first = 1u << job / size, second = 1u << job % size;
    if ((first | first << 1 | first >> 1) & second)
        return 0;
    return count(first | second, (first << 1 | second) << 1, (first >> 1 | second) >> 1, 2);
}

int main(int argc, char **argv)
{
    std::atomic<int> next = 0;
    std::atomic<long> sum = 0;
    int jobs = size * size * 6 * processors();
    auto work = [&] {
        long found = 0;
        for (int job = next++; job < jobs; job = next++)
            found += solve(job % (size * size));
        sum += found;
    };
    {
        std::vector<std::jthread> team;
        for (int thread = threads_asked(argc, argv); thread > 0; thread--)
            team.emplace_back(work);
    }
    std::printf("%ld\n", sum.load());
}
