// Load, transform, store: three stages with a thread each, and the one in the middle takes most of the time.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "../suite.h"

class Pipe {
    std::mutex guard;
    std::condition_variable changed;
    std::deque<double> items;

public:
    void put(double item)
    {
        std::unique_lock lock(guard);
        changed.wait(lock, [&] { return items.size() < 16; });
        items.push_back(item);
        changed.notify_one();
    }
    double get()
    {
        std::unique_lock lock(guard);
        changed.wait(lock, [&] { return !items.empty(); });
        double item = items.front();
        items.pop_front();
        changed.notify_one();
        return item;
    }
};

static NOINLINE double load(int item) { return refine(item, 12000); }

static NOINLINE double transform(double item)
{
    return refine(item, 60000); // FAULT: one thread has the stage that takes five times as long as the others
}

static NOINLINE double store(double item) { return refine(item, 12000); }

int main()
{
    const int items = 2500;
    Pipe loaded, transformed;
    double sum = 0;
    std::thread first([&] {
        for (int item = 0; item < items; item++)
            loaded.put(load(item));
    });
    std::thread second([&] {
        for (int item = 0; item < items; item++)
            transformed.put(transform(loaded.get()));
    });
    std::thread third([&] {
        for (int item = 0; item < items; item++)
            sum += store(transformed.get());
    });
    first.join();
    second.join();
    third.join();
    std::printf("%.6f\n", sum);
}
