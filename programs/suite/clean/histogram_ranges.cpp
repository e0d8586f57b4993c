// Threads count in tables of their own; then each adds up a range of all the tables.
#include <barrier>
#include <thread>
#include <vector>

#include "../suite.h"

constexpr int BINS = 4096;
constexpr long SAMPLES = 46000000;

static NOINLINE int bin_of(uint64_t &state)
{
    double value = 0;
    for (int i = 0; i < 8; i++)
        value += double(next_random(&state) >> 11) * 0x1p-53;
    return int(std::sqrt(value / 8) * (BINS - 1));
}

static NOINLINE void count(std::vector<long> &table, long first, long last)
{
    for (long block = first; block < last; block += 1000) {
        uint64_t state = (block + 1) * 0x9e3779b97f4a7c15u;
        for (int i = 0; i < 1000; i++)
            table[bin_of(state)]++;
    }
}

using Table = std::vector<long>;

static NOINLINE void add_range(const std::vector<Table> &tables, Table &all, int first, int last)
{
    for (int bin = first; bin < last; bin++)
        for (const auto &table : tables)
            all[bin] += table[bin];
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    long blocks = SAMPLES * processors() / 1000;
    std::vector<std::vector<long>> tables(threads, std::vector<long>(BINS));
    std::vector<long> all(BINS);
    std::barrier counted(threads);
    {
        std::vector<std::jthread> team;
        for (int i = 0; i < threads; i++)
            team.emplace_back([&, i] {
                count(tables[i], blocks * i / threads * 1000, blocks * (i + 1) / threads * 1000);
                counted.arrive_and_wait();
                add_range(tables, all, BINS * i / threads, BINS * (i + 1) / threads);
            });
    }
    long weighted = 0;
    for (int bin = 0; bin < BINS; bin++)
        weighted += bin * all[bin];
    printf("%ld\n", weighted);
    return 0;
}
