// A server's loop that starts a thread for each request; a request takes some microseconds.
#include <thread>
#include <vector>

#include "../suite.h"

static NOINLINE double answer(int request) { return refine(request, 600); }

static NOINLINE double serve(int requests, int threads)
{
    std::vector<double> answers(static_cast<size_t>(requests));
    for (int first = 0; first < requests; first += threads) {
        std::vector<std::thread> team;
        for (int request = first; request < first + threads && request < requests; request++)
            team.emplace_back([&, request] { answers[request] = answer(request); }); // FAULT: a thread each
        for (auto &thread : team)
            thread.join();
    }
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
