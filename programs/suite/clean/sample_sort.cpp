// A sort in parallel: numbers are scattered by their upper bits, then each thread sorts its own range.
#include <algorithm>
#include <barrier>
#include <numeric>
#include <thread>
#include <vector>

#include "../suite.h"

struct Sorter
{
    size_t count;
    int threads;
    std::vector<uint32_t> from, to;
    std::vector<size_t> places;
    std::barrier<> all;

    Sorter(size_t count, int threads)
        : count(count), threads(threads), from(count), to(count),
          places(static_cast<size_t>(threads) * threads + 1), all(threads)
    {
    }

    size_t first_of(int thread) const { return count * thread / threads; }
    int range_of(uint32_t value) const
    {
        return static_cast<int>(static_cast<uint64_t>(value) * threads >> 32);
    }

    void fill(int thread)
    {
        for (size_t i = first_of(thread); i < first_of(thread + 1); i++) {
            uint64_t hash = (i + 1) * 0x9e3779b97f4a7c15u;
            from[i] = static_cast<uint32_t>((hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u >> 32);
        }
    }

    void count_ranges(int thread)
    {
        std::vector<size_t> mine(threads);
        for (size_t i = first_of(thread); i < first_of(thread + 1); i++)
            mine[range_of(from[i])]++;
        for (int range = 0; range < threads; range++)
            places[range * threads + thread + 1] = mine[range];
    }

    void scatter(int thread)
    {
        std::vector<size_t> next(threads);
        for (int range = 0; range < threads; range++)
            next[range] = places[range * threads + thread];
        for (size_t i = first_of(thread); i < first_of(thread + 1); i++)
            to[next[range_of(from[i])]++] = from[i];
    }

    void work(int thread)
    {
        fill(thread);
        count_ranges(thread);
        all.arrive_and_wait();
        if (thread == 0)
            std::partial_sum(places.begin(), places.end(), places.begin());
        all.arrive_and_wait();
        scatter(thread);
        all.arrive_and_wait();
        std::sort(to.begin() + places[thread * threads], to.begin() + places[(thread + 1) * threads]);
    }
};

int main(int argc, char **argv)
{
    Sorter sorter(12000000u * processors(), threads_asked(argc, argv));
    std::vector<std::thread> team;
    for (int thread = 0; thread < sorter.threads; thread++)
        team.emplace_back([&, thread] { sorter.work(thread); });
    for (auto &thread : team)
        thread.join();
    std::printf("%u %u\n", sorter.to[sorter.count / 3], sorter.to[sorter.count - 1]);
}
