// A pool of threads whose jobs are functions in a queue; each pixel of a picture becomes a job.
#include <cstdio>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "../suite.h"

class Pool {
    std::mutex guard;
    std::condition_variable changed, is_done;
    std::deque<std::function<void()>> jobs;
    std::vector<std::thread> team;
    size_t unfinished = 0;
    bool is_closed = false;

    void work()
    {
        std::unique_lock lock(guard);
        for (;;) {
            changed.wait(lock, [&] { return is_closed || !jobs.empty(); });
            if (jobs.empty())
                return;
            std::function<void()> job = std::move(jobs.front());
            jobs.pop_front();
            lock.unlock();
            job();
            lock.lock();
            if (--unfinished == 0)
                is_done.notify_one();
        }
    }

public:
    explicit Pool(int threads)
    {
        for (int thread = 0; thread < threads; thread++)
            team.emplace_back([this] { work(); });
    }
    void submit(std::function<void()> job)
    {
        std::lock_guard lock(guard);
        jobs.push_back(std::move(job));
        unfinished++;
        changed.notify_one();
    }
    void wait_all()
    {
        std::unique_lock lock(guard);
        is_done.wait(lock, [&] { return unfinished == 0; });
    }
    void finish()
    {
        {
            std::lock_guard lock(guard);
            is_closed = true;
        }
        changed.notify_all();
        for (auto &thread : team)
            thread.join();
    }
};

static NOINLINE void shade(std::vector<double> &picture, size_t pixel)
{
    picture[pixel] = refine(picture[pixel] + static_cast<double>(pixel), 100);
}

static NOINLINE void shade_all(Pool &pool, std::vector<double> &picture)
{
    for (size_t pixel = 0; pixel < picture.size(); pixel++)
        pool.submit([&picture, pixel] { shade(picture, pixel); }); // FAULT: half a microsecond of work
    pool.wait_all();
}

int main(int argc, char **argv)
{
    std::vector<double> picture(12'000u * static_cast<size_t>(processors()));
    Pool pool(threads_asked(argc, argv));
    for (int step = 0; step < 70; step++)
        shade_all(pool, picture);
    pool.finish();
    double sum = 0;
    for (double each : picture)
        sum += each;
    std::printf("%.4f\n", sum);
}
