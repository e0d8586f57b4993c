// Scenes of a game are lit; they differ much in size, and threads take the largest first.
#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "../suite.h"

constexpr int SCENES = 320;

struct Scene {
    int lamps;
    double light = 0;
};

static std::vector<Scene> make_scenes()
{
    uint64_t state = 88172645463325252;
    std::vector<Scene> scenes;
    for (int i = 0; i < SCENES; i++) {
        int chance = int(next_random(&state) % 100);
        scenes.push_back({i % 20 == 0 ? 150 + chance : 2 + chance % 40});
    }
    return scenes;
}

static NOINLINE void light(Scene &scene)
{
    for (int lamp = 0; lamp < scene.lamps; lamp++)
        scene.light += refine(lamp, 30'000);
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    auto scenes = make_scenes();
    std::sort(scenes.begin(), scenes.end(), [](auto &a, auto &b) { return a.lamps > b.lamps; });
    std::atomic<int> next = 0;
    std::vector<std::thread> team;
    for (int i = 0; i < threads; i++)
        team.emplace_back([&] {
            for (int scene; (scene = next++) < SCENES;)
                light(scenes[scene]);
        });
    for (auto &thread : team)
        thread.join();
    double sum = std::accumulate(scenes.begin(), scenes.end(), 0.0,
                                 [](double sum, auto &scene) { return sum + scene.light; });
    printf("%.3f\n", sum);
    return 0;
}
