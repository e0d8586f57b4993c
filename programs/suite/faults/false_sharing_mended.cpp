// Each thread counts letters in counters of its own, in cache lines of their own.
#include <atomic>
#include <thread>
#include <vector>

#include "../suite.h"

struct alignas(128) Count {
    std::atomic<long> vowels, others;
};

alignas(128) static Count counts[1024];

static NOINLINE void count(Count &mine, uint64_t seed, long letters)
{
    for (long letter = 0; letter < letters; letter++) {
        auto &counter = next_random(&seed) % 26 < 5 ? mine.vowels : mine.others;
        counter.fetch_add(1, std::memory_order_relaxed);
    }
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    long letters = 70000000L * processors() / threads, vowels = 0;
    std::vector<std::thread> team;
    for (int number = 0; number < threads; number++)
        team.emplace_back([&, number] { count(counts[number], 7u + 2u * number, letters); });
    for (auto &thread : team)
        thread.join();
    for (auto &each : counts)
        vowels += each.vowels;
    std::printf("%ld\n", vowels);
}
