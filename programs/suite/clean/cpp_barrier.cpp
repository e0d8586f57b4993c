// Phases of equal work for each thread, with a std::barrier between them.
#include <barrier>
#include <thread>
#include <vector>

#include "../suite.h"

static NOINLINE double phase_of(double value) { return refine(value, 1200000); }

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), phases = 120 * processors() / threads;
    std::vector<double> values(static_cast<size_t>(threads) * 16, 1.0);
    std::barrier<> all(threads);
    std::vector<std::thread> team;
    for (int number = 0; number < threads; number++)
        team.emplace_back([&, number] {
            for (int phase = 0; phase < phases; phase++) {
                values[16 * number] = phase_of(values[16 * number] + phase);
                all.arrive_and_wait();
            }
        });
    for (auto &thread : team)
        thread.join();
    std::printf("%.6f\n", values[0]);
}
