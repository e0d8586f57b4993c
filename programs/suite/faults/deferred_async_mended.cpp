// Frames of a film are rendered by futures, one for each processor, and then joined.
#include <cstdio>
#include <future>
#include <vector>

#include "../suite.h"

static NOINLINE double render(int first, int last)
{
    double sum = 0;
    for (int line = first; line < last; line++)
        sum += refine(line, 9000);
    return sum;
}

static NOINLINE double render_scene(int lines, int parts)
{
    std::vector<std::future<double>> running;
    for (int part = 0; part < parts; part++)
        running.push_back(std::async(
            std::launch::async,
            render, lines * part / parts, lines * (part + 1) / parts));
    double sum = 0;
    for (auto &each : running)
        sum += each.get();
    return sum;
}

// Even shares of the sound for threads that are there at once.
static NOINLINE double mix_sound(int samples, int parts)
{
    std::vector<std::future<double>> running;
    for (int part = 0; part < parts; part++)
        running.push_back(std::async(std::launch::async, [=] {
            return refine(part, 4000L * samples / parts);
        }));
    double sum = 0;
    for (auto &each : running)
        sum += each.get();
    return sum;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), size = processors();
    double sum = 0;
    for (int scene = 0; scene < 6; scene++)
        sum += mix_sound(1600 * size, threads) + render_scene(700 * size, threads);
    std::printf("%.3f\n", sum > 0 ? 1.0 : 0.0);
}
