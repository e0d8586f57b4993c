// Ways between stations are looked for by all threads, and what has been found is kept for who asks again.
#include <cstdio>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "../suite.h"

namespace {

constexpr int stations = 90, questions = 9000;

class Planner {
public:
    double way(int from, int to);

private:
    std::mutex lock;
    std::unordered_map<int, double> known;
};

NOINLINE double search(int from, int to)
{
    return refine(from * 0.1 + to * 0.01, 40000);
}

NOINLINE double Planner::way(int from, int to)
{
    const int key = from * stations + to;
    std::lock_guard<std::mutex> guard(lock); // FAULT: the search is made while the lock is held
    const auto found = known.find(key);
    if (found != known.end())
        return found->second;
    return known[key] = search(from, to);
}

NOINLINE double price(double length, int question)
{
    return refine(length + question % 10, 3000);
}

NOINLINE void answer(Planner &planner, int first, int step, double &sum)
{
    for (int question = first; question < questions; question += step) {
        uint64_t state = 88172645463325252 + static_cast<uint64_t>(question) * 7919;
        next_random(&state);
        const int from = static_cast<int>(next_random(&state) % stations);
        const int to = static_cast<int>(next_random(&state) % stations);
        sum += price(planner.way(from, to), question);
    }
}

} // namespace

int main(int argc, char **argv)
{
    const int threads = threads_asked(argc, argv);
    Planner planner;
    std::vector<double> sums(static_cast<size_t>(threads) * 16);
    std::vector<std::thread> team;
    for (int thread = 0; thread < threads; thread++)
        team.emplace_back(answer, std::ref(planner), thread, threads, std::ref(sums[thread * 16]));
    for (auto &member : team)
        member.join();
    double total = 0;
    for (double sum : sums)
        total += sum;
    std::printf("%.4f\n", total);
}
