// CPU time 2:2:4:1 through code that is inlined, called, recursive and tail-called, in main and in created
// threads.
// shares [SECONDS of every thread] [THREADS created]
#include "truth.h"

#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

struct Truth {
    long tid = 0;
    std::string name;
    double cpu_s = 0;
    double inlined = 0, plain = 0, recursive = 0, tail_first = 0, tail_last = 0;
};

constexpr int LEVELS = 20;

INLINED uint64_t inlined(uint64_t x, uint64_t units)
{
    BURN(x, units * UNIT);
    return x;
}

KEPT uint64_t plain(uint64_t x, uint64_t units)
{
    BURN(x, units * UNIT);
    return x;
}

// Half of a level's work follows the inner call, so that the compiler cannot make a loop of it.
KEPT uint64_t recursive(uint64_t x, uint64_t units, int levels)
{
    BURN(x, units * UNIT / LEVELS / 2);
    if (levels > 1)
        x = recursive(x, units, levels - 1);
    BURN(x, units * UNIT / LEVELS / 2);
    return x;
}

KEPT uint64_t tail_last(uint64_t x, uint64_t units)
{
    BURN(x, units * UNIT / 2);
    return x;
}

// Does half of the work and leaves by a jump: while tail_last runs, this function is on no stack.
KEPT uint64_t tail_first(uint64_t x, uint64_t units, double *left_at)
{
    BURN(x, units * UNIT / 2);
    *left_at = thread_cpu();
    return tail_last(x, units);
}

KEPT void all_shares(double seconds, Truth *truth)
{
    uint64_t x = 1, state = 88172645463325252u + (uint64_t)thread_id();
    double now = thread_cpu(), end = now + seconds;
    while (now < end) {
        uint64_t units = uneven(&state, 10);
        x = inlined(x, 2 * units);
        double after_inlined = thread_cpu();
        x = plain(x, 2 * units);
        double after_plain = thread_cpu();
        x = recursive(x, 4 * units, LEVELS);
        double after_recursive = thread_cpu();
        double after_tail_first = 0;
        x = tail_first(x, units, &after_tail_first);
        double after_all = thread_cpu();
        truth->inlined += after_inlined - now;
        truth->plain += after_plain - after_inlined;
        truth->recursive += after_recursive - after_plain;
        truth->tail_first += after_tail_first - after_recursive;
        truth->tail_last += after_all - after_tail_first;
        now = after_all;
    }
    kept_result = x;
    truth->tid = thread_id();
    truth->cpu_s = thread_cpu();
}

static void print(const Truth &truth, const char *before)
{
    printf("%s{\"tid\":%ld,\"name\":\"%s\",\"cpu_s\":%.6f,\"functions\":{\"inlined\":%.6f,\"plain\":%.6f,"
           "\"recursive\":%.6f,\"tail_first\":%.6f,\"tail_last\":%.6f}}",
           before, truth.tid, truth.name.c_str(), truth.cpu_s, truth.inlined, truth.plain, truth.recursive,
           truth.tail_first, truth.tail_last);
}

int main(int argc, char **argv)
{
    double began = wall();
    double seconds = seconds_argument(argc, argv, 1, 1.0);
    size_t created = argc > 2 ? (size_t)atoi(argv[2]) : 2;
    std::vector<Truth> truths(created + 1);
    std::vector<std::thread> threads;
    for (size_t i = 1; i <= created; i++) {
        truths[i].name = "worker-" + std::to_string(i);
        threads.emplace_back([&truths, i, seconds] {
            pthread_setname_np(pthread_self(), truths[i].name.c_str());
            all_shares(seconds, &truths[i]);
        });
    }
    truths[0].name = "shares";
    all_shares(seconds, &truths[0]);
    for (auto &thread : threads)
        thread.join();
    printf("{\"program\":\"shares\",\"threads\":[");
    for (size_t i = 0; i < truths.size(); i++)
        print(truths[i], i ? "," : "");
    printf("],\"cpu_s\":%.6f,\"wall_s\":%.6f}\n", process_cpu(), wall() - began);
    return 0;
}
