// Frames of a film come one after the other; the tiles of each are denoised by a pool of threads.
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "../suite.h"

constexpr int FRAMES = 180, TILES = 24, SIDE = 64;

class Pool {
public:
    explicit Pool(int threads)
    {
        for (int i = 0; i < threads; i++)
            team.emplace_back([this] { work(); });
    }

    ~Pool()
    {
        {
            std::lock_guard guard(lock);
            is_over = true;
        }
        changed.notify_all();
        for (auto &thread : team)
            thread.join();
    }

    NOINLINE void run_all(std::vector<std::function<void()>> jobs)
    {
        std::unique_lock guard(lock);
        unfinished += jobs.size();
        for (auto &job : jobs)
            waiting.push_back(std::move(job));
        changed.notify_one(); // FAULT: many jobs have come, and one thread is woken
        finished.wait(guard, [this] { return unfinished == 0; });
    }

private:
    void work()
    {
        std::unique_lock guard(lock);
        for (;;) {
            changed.wait(guard, [this] { return is_over || !waiting.empty(); });
            if (waiting.empty())
                return;
            auto job = std::move(waiting.front());
            waiting.pop_front();
            guard.unlock();
            job();
            guard.lock();
            if (--unfinished == 0)
                finished.notify_one();
        }
    }

    std::mutex lock;
    std::condition_variable changed, finished;
    std::deque<std::function<void()>> waiting;
    size_t unfinished = 0;
    bool is_over = false;
    std::vector<std::thread> team;
};

static NOINLINE void denoise(std::vector<double> &tile, int frame)
{
    for (double &pixel : tile)
        pixel = refine(pixel + frame % 3, 24);
}

int main(int argc, char **argv)
{
    std::vector<std::vector<double>> tiles(TILES, std::vector<double>(SIDE * SIDE, 1.0));
    Pool pool(threads_asked(argc, argv));
    for (int frame = 0; frame < FRAMES; frame++) {
        std::vector<std::function<void()>> jobs;
        for (auto &tile : tiles)
            jobs.emplace_back([&tile, frame] { denoise(tile, frame); });
        pool.run_all(std::move(jobs));
    }
    double sum = 0;
    for (auto &tile : tiles)
        sum += tile[0];
    printf("%.6f\n", sum);
    return 0;
}
