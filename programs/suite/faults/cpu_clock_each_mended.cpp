// Rules are matched with messages, and it is noted how much processor time each rule takes.
#include <atomic>
#include <ctime>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "../suite.h"

constexpr int rules = 24, messages = 200000, block = 500;

struct Usage {
    long matched = 0;
    double seconds[rules] = {};
};

static double processor_seconds()
{
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

static std::string make_message(int number)
{
    std::string text(120, ' ');
    uint64_t state = 88172645463325252 + uint64_t(number) * 7919;
    for (char &letter : text)
        letter = char('a' + next_random(&state) % 26);
    return text;
}

// A rule wants some letters in this order, with others between.
static NOINLINE bool matches(int rule, const std::string &text)
{
    int wanted = rule % 26, seen = 0;
    for (char letter : text)
        if (letter == 'a' + (wanted + 5 * seen) % 26)
            seen++;
    return seen >= 2;
}

// Each message is matched with all rules, of which every hundredth message times each.
static NOINLINE void match_all(const std::string &text, bool is_timed, Usage &usage)
{
    for (int rule = 0; rule < rules; rule++) {
        double begin = is_timed ? processor_seconds() : 0;
        usage.matched += matches(rule, text);
        if (is_timed)
            usage.seconds[rule] += 100 * (processor_seconds() - begin);
    }
}

int main(int argc, char **argv)
{
    int count = threads_asked(argc, argv);
    std::atomic<int> next = 0;
    std::vector<Usage> usages(count);
    std::vector<std::thread> threads;
    for (int own = 0; own < count; own++)
        threads.emplace_back([&, own] {
            Usage usage;
            for (int first; (first = next.fetch_add(block)) < messages;)
                for (int number = first; number < first + block; number++)
                    match_all(make_message(number), number % 100 == 0, usage);
            usages[own] = usage;
        });
    for (auto &thread : threads)
        thread.join();
    long matched = 0;
    double seconds = 0;
    for (const Usage &usage : usages) {
        matched += usage.matched;
        for (double each : usage.seconds)
            seconds += each;
    }
    std::printf("%ld matches, %s\n", matched, seconds > 0 ? "timed" : "not timed");
}
