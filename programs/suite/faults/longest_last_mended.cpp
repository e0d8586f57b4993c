// A night's film scans are denoised by a few threads, which take one reel after the other.
#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "../suite.h"

struct Reel {
    std::string title;
    int frames;
};

/* Many commercials and trailers, and a few features. */
static std::vector<Reel> list_reels(int commercials)
{
    uint64_t state = 2463534242;
    std::vector<Reel> reels;
    for (int i = 0; i < commercials; i++)
        reels.push_back({"commercial " + std::to_string(i), 20 + int(next_random(&state) % 20)});
    for (int i = 0; i < commercials / 20; i++)
        reels.push_back({"trailer " + std::to_string(i), 120 + int(next_random(&state) % 60)});
    reels.push_back({"feature", commercials * 24});
    return reels;
}

static NOINLINE double denoise_frame(int reel, int frame)
{
    return refine(reel * 131 + frame, 25'000);
}

static NOINLINE double denoise(int number, const Reel &reel)
{
    double sum = 0;
    for (int frame = 0; frame < reel.frames; frame++)
        sum += denoise_frame(number, frame);
    return sum;
}

static NOINLINE void run_night(const std::vector<Reel> &reels, std::vector<double> &results, int threads)
{
    std::atomic<size_t> next = 0;
    std::vector<std::thread> team;
    for (int i = 0; i < threads; i++)
        team.emplace_back([&] {
            for (size_t reel; (reel = next++) < reels.size();)
                results[reel] = denoise(int(reel), reels[reel]);
        });
    for (auto &thread : team)
        thread.join();
}

static NOINLINE void order_reels(std::vector<Reel> &reels)
{
    std::sort(reels.begin(), reels.end(), [](const Reel &a, const Reel &b) {
        return a.frames > b.frames;
    });
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    auto reels = list_reels(100 * processors());
    order_reels(reels);
    std::vector<double> results(reels.size());
    run_night(reels, results, threads);
    double total = 0;
    for (double result : results)
        total += result;
    printf("%zu reels, %.3f\n", reels.size(), total / double(reels.size()) / 1000);
    return 0;
}
