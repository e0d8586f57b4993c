// Threads look up the heights of places in a table that is made when it is needed first.
#include <cstdio>
#include <thread>
#include <vector>

#include "../suite.h"

static NOINLINE std::vector<double> make_table()
{
    std::vector<double> table(4096);
    for (size_t i = 0; i < table.size(); i++)
        table[i] = refine(static_cast<double>(i), 14000);
    return table;
}

static NOINLINE double height(size_t place)
{
    static const std::vector<double> table = make_table(); // FAULT: the first makes it alone, the others wait
    return table[place % table.size()];
}

static NOINLINE double survey(int first, int last)
{
    double sum = 0;
    for (int place = first; place < last; place++)
        sum += refine(height(static_cast<size_t>(place) * 7919), 3000);
    return sum;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), places = 24000 * processors();
    std::vector<double> sums(static_cast<size_t>(threads));
    std::vector<std::thread> team;
    for (int thread = 0; thread < threads; thread++)
        team.emplace_back([=, &sums] {
            sums[thread] = survey(places * thread / threads, places * (thread + 1) / threads);
        });
    for (auto &each : team)
        each.join();
    double sum = 0;
    for (double each : sums)
        sum += each;
    std::printf("%.4f\n", sum);
}
