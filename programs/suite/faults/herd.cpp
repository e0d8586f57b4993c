// Many workers wait for one queue, and each item that is put into it wakes all of them.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "../suite.h"

static std::mutex guard;
static std::condition_variable changed;
static std::deque<int> queue;
static bool is_closed;

static NOINLINE double handle(int item) { return refine(item, 2500); }

static NOINLINE void post(int item)
{
    std::lock_guard lock(guard);
    queue.push_back(item);
    changed.notify_all(); // FAULT: wakes every worker for one item
}

static NOINLINE bool take(int &item)
{
    std::unique_lock lock(guard);
    changed.wait(lock, [] { return !queue.empty() || is_closed; });
    if (queue.empty())
        return false;
    item = queue.front();
    queue.pop_front();
    return true;
}

int main(int argc, char **argv)
{
    int workers = 24 * threads_asked(argc, argv), items = 6000 * processors();
    std::vector<std::thread> team;
    for (int i = 0; i < workers; i++)
        team.emplace_back([] {
            double sum = 0;
            for (int item; take(item);)
                sum += handle(item);
            if (sum < 0)
                std::abort();
        });
    double sum = 0;
    for (int item = 0; item < items; item++) {
        sum += refine(item, 900);
        post(item);
    }
    {
        std::lock_guard lock(guard);
        is_closed = true;
        changed.notify_all();
    }
    for (auto &thread : team)
        thread.join();
    std::printf("%.6f\n", sum);
}
