// Each thread simulates its particles and writes their paths to a file of its own.
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "../suite.h"

static NOINLINE double move(double at) { return refine(at, 90); }

static NOINLINE void trace(int first, int last, int thread)
{
    std::string path = "paths." + std::to_string(thread);
    std::ofstream file(path);
    for (int particle = first; particle < last; particle++) {
        double at = particle;
        for (int step = 0; step < 250; step++) {
            at = move(at);
            file << particle << ' ' << step << ' ' << static_cast<long>(at * 1e6)
                 << std::endl; // FAULT: a system call for each line
        }
    }
    file.close();
    std::remove(path.c_str());
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), particles = 4000 * processors();
    std::vector<std::thread> team;
    for (int thread = 0; thread < threads; thread++)
        team.emplace_back(trace, particles * thread / threads, particles * (thread + 1) / threads, thread);
    for (auto &each : team)
        each.join();
    std::puts("done");
}
