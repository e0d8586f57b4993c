// Two stages of equal work on the whole, uneven from item to item, with room for one item between them.
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "../suite.h"

class Slot
{
    std::mutex guard;
    std::condition_variable changed;
    std::optional<double> item; // FAULT: room for one only: each stage waits for the other

public:
    NOINLINE void put(double value)
    {
        std::unique_lock<std::mutex> held(guard);
        changed.wait(held, [&] { return !item.has_value(); });
        item = value;
        changed.notify_one();
    }

    NOINLINE double take()
    {
        std::unique_lock<std::mutex> held(guard);
        changed.wait(held, [&] { return item.has_value(); });
        double value = *item;
        item.reset();
        changed.notify_one();
        return value;
    }
};

static long cost_of(uint64_t *state) { return next_random(state) % 4 == 0 ? 120000 : 8000; }

static NOINLINE double decode(int item, long cost) { return refine(item, cost); }

static NOINLINE double encode(double value, long cost) { return refine(value, cost); }

int main()
{
    int items = 4000;
    Slot slot;
    std::thread decoder([&] {
        uint64_t state = 31;
        for (int i = 0; i < items; i++)
            slot.put(decode(i, cost_of(&state)));
    });
    uint64_t state = 517;
    double sum = 0;
    for (int i = 0; i < items; i++)
        sum += encode(slot.take(), cost_of(&state));
    decoder.join();
    std::printf("%.6f\n", sum);
}
