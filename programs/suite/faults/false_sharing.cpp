// Each thread counts letters in counters of its own, which lie in one cache line with those of the others.
#include <atomic>
#include <thread>
#include <vector>

#include "../suite.h"

struct Count {
    std::atomic<long> vowels, others; // FAULT: counters of several threads in one cache line
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
