// Frames of a film are made brighter and softer by threads, each of which takes the next frame.
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "../suite.h"

namespace {

constexpr size_t pixels = 10u << 20;
constexpr int frames = 60;

std::atomic<int> next_frame{0};
std::vector<float> film;

NOINLINE void soften(float *to, const float *from, float light)
{
    to[0] = from[0];
    for (size_t pixel = 1; pixel + 1 < pixels; pixel++)
        to[pixel] = light * (0.25f * from[pixel - 1] + 0.5f * from[pixel] + 0.25f * from[pixel + 1]);
    to[pixels - 1] = from[pixels - 1];
}

NOINLINE double brightness(const float *frame)
{
    double sum = 0;
    for (size_t pixel = 0; pixel < pixels; pixel += 64)
        sum += frame[pixel];
    return sum / (pixels / 64);
}

NOINLINE double develop(int frame)
{
    const std::unique_ptr<float[]> softened(new float[pixels]); // FAULT: new memory for each frame
    soften(softened.get(), film.data(), 1 + 0.01f * static_cast<float>(frame));
    return brightness(softened.get());
}

void work(double *results)
{
    for (int frame = next_frame++; frame < frames; frame = next_frame++)
        results[frame] = develop(frame);
}

} // namespace

int main(int argc, char **argv)
{
    film.resize(pixels);
    for (size_t pixel = 0; pixel < pixels; pixel++)
        film[pixel] = static_cast<float>(pixel % 251);
    std::vector<double> results(frames);
    std::vector<std::thread> team;
    for (int thread = threads_asked(argc, argv); thread > 0; thread--)
        team.emplace_back(work, results.data());
    for (auto &member : team)
        member.join();
    double total = 0;
    for (double result : results)
        total += result;
    std::printf("%.4f\n", total);
}
