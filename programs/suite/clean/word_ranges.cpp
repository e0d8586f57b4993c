// Words of a text are counted: each thread counts those of its parts, sorted by ranges of their numbers, and
// then adds up one range of all parts.
#include <barrier>
#include <cstdio>
#include <thread>
#include <unordered_map>
#include <vector>

#include "../suite.h"

using Counts = std::unordered_map<uint64_t, int>;

constexpr int parts = 64, words = 1000000;

// A word of some letters, of which short ones are frequent.
static NOINLINE uint64_t next_word(uint64_t &state)
{
    uint64_t letters = 1 + next_random(&state) % 3 + next_random(&state) % 2, word = 0;
    for (uint64_t letter = 0; letter < letters; letter++)
        word = word * 27 + 1 + next_random(&state) % 26 % 13;
    return word * 0x9e3779b97f4a7c15u;
}

static NOINLINE void count_part(int part, std::vector<Counts> &ranges)
{
    uint64_t state = 88172645463325252 + uint64_t(part) * 7919;
    for (int word = 0; word < words; word++) {
        uint64_t number = next_word(state);
        ranges[(number >> 40) % ranges.size()][number]++;
    }
}

static NOINLINE long add_up(const std::vector<std::vector<Counts>> &all, size_t range)
{
    Counts sum;
    for (const auto &ranges : all)
        for (const auto &[number, count] : ranges[range])
            sum[number] += count;
    long frequent = 0;
    for (const auto &[number, count] : sum)
        frequent += count > 900;
    return frequent;
}

int main(int argc, char **argv)
{
    int count = threads_asked(argc, argv);
    std::vector<std::vector<Counts>> all(count, std::vector<Counts>(count));
    std::vector<long> frequent(count);
    std::vector<std::thread> threads;
    std::barrier counted(count);
    for (int own = 0; own < count; own++)
        threads.emplace_back([&, own] {
            for (int part = own; part < parts; part += count)
                count_part(part, all[own]);
            counted.arrive_and_wait();
            frequent[own] = add_up(all, own);
        });
    long total = 0;
    for (int own = 0; own < count; own++) {
        threads[own].join();
        total += frequent[own];
    }
    std::printf("%ld frequent words\n", total);
}
