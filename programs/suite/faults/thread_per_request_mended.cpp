// A server's loop with a thread for each processor, which take requests one after the other.
#include <atomic>
#include <thread>
#include <vector>

#include "../suite.h"

static NOINLINE double answer(int request) { return refine(request, 600); }

static NOINLINE double serve(int requests, int threads)
{
    std::vector<double> answers(static_cast<size_t>(requests));
    std::atomic<int> next{0};
    std::vector<std::thread> team;
    for (int number = 0; number < threads; number++)
        team.emplace_back([&] {
            for (int request; (request = next++) < requests;)
                answers[request] = answer(request);
        });
    for (auto &thread : team)
        thread.join();
    double sum = 0;
    for (double each : answers)
        sum += each;
    return sum;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    std::printf("%.6f\n", serve(14000 * processors(), threads));
}
