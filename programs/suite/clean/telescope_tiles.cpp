// Pictures of stars are cleaned: threads take tiles by a counter, and each has its own room to work in.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "../suite.h"

namespace {

constexpr int tiles = 260, side = 160;

NOINLINE void expose(std::vector<float> &tile, int number)
{
    uint64_t state = 600 + static_cast<uint64_t>(number);
    for (auto &spot : tile)
        spot = static_cast<float>(next_random(&state) % 4096);
}

NOINLINE double clean(const std::vector<float> &tile, std::vector<float> &near)
{
    double sum = 0;
    for (int row = 2; row < side - 2; row++)
        for (int column = 2; column < side - 2; column++) {
            near.clear();
            for (int down = -2; down <= 2; down++)
                for (int along = -2; along <= 2; along++)
                    near.push_back(tile[static_cast<size_t>((row + down) * side + column + along)]);
            std::nth_element(near.begin(), near.begin() + 12, near.end());
            sum += near[12];
        }
    return sum;
}

NOINLINE void work(std::atomic<int> &next, double &result)
{
    std::vector<float> tile(side * side), near;
    double sum = 0;
    near.reserve(25);
    for (int number = next++; number < tiles; number = next++) {
        expose(tile, number);
        sum += clean(tile, near);
    }
    result = sum;
}

} // namespace

int main(int argc, char **argv)
{
    const int threads = threads_asked(argc, argv);
    std::atomic<int> next{0};
    std::vector<double> results(static_cast<size_t>(threads));
    std::vector<std::thread> team;
    for (auto &result : results)
        team.emplace_back(work, std::ref(next), std::ref(result));
    for (auto &member : team)
        member.join();
    double total = 0;
    for (double result : results)
        total += result;
    std::printf("%.0f\n", total);
}
