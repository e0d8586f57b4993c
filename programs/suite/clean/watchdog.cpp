// Threads follow particles through a field; another one looks from time to time whether all get on.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "../suite.h"

constexpr int PATHS = 900;

class Watchdog {
public:
    explicit Watchdog(const std::atomic<int> &done) : done(done), thread([this] { watch(); }) {}

    ~Watchdog()
    {
        {
            std::lock_guard guard(lock);
            is_over = true;
        }
        changed.notify_one();
        thread.join();
    }

    std::atomic<int> alarms = 0;

private:
    void watch()
    {
        std::unique_lock guard(lock);
        int before = -1;
        while (!changed.wait_for(guard, std::chrono::milliseconds(50), [this] { return is_over; })) {
            int now = done;
            alarms += now == before;
            before = now;
        }
    }

    const std::atomic<int> &done;
    std::mutex lock;
    std::condition_variable changed;
    bool is_over = false;
    std::thread thread;
};

static NOINLINE double follow(int path)
{
    double place = path % 1013;
    for (int step = 0; step < 16; step++)
        place = refine(place + step, 12'000);
    return place;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), paths = PATHS * processors();
    std::vector<double> ends(paths);
    std::atomic<int> next = 0, done = 0;
    {
        Watchdog watchdog(done);
        std::vector<std::thread> team;
        for (int i = 0; i < threads; i++)
            team.emplace_back([&] {
                for (int path; (path = next++) < paths; done++)
                    ends[path] = follow(path);
            });
        for (auto &thread : team)
            thread.join();
        if (watchdog.alarms > 0)
            fprintf(stderr, "%d times nothing was done\n", watchdog.alarms.load());
    }
    double sum = 0;
    for (double end : ends)
        sum += end;
    printf("%.3f\n", sum / paths);
    return 0;
}
