// Fixed amounts of work in the shapes of the programs under programs/, which work for a fixed time instead.
// work shares|exceptions|recursion [AMOUNT]       AMOUNT 1 is about one second of CPU time
#include "truth.h"

#include <stdexcept>
#include <string>
#include <thread>

INLINED uint64_t inlined(uint64_t x, uint64_t units)
{
    BURN(x, units * UNIT);
    return x;
}

KEPT uint64_t plain(uint64_t x, uint64_t units)
{
    BURN(x, units * UNIT);
    return x;
}

KEPT uint64_t recursive(uint64_t x, uint64_t units, int levels)
{
    BURN(x, units * UNIT / 40);
    if (levels > 1)
        x = recursive(x, units, levels - 1);
    BURN(x, units * UNIT / 40);
    return x;
}

KEPT uint64_t tail_last(uint64_t x, uint64_t units)
{
    BURN(x, units * UNIT);
    return x;
}

// Two threads share the work in 2:2:4:1.
KEPT void shares(double amount)
{
    auto half = [amount] {
        uint64_t x = 1, state = 88172645463325252u;
        for (long i = 0; i < (long)(amount * 390); i++) {
            uint64_t units = uneven(&state, 10);
            x = inlined(x, 2 * units);
            x = plain(x, 2 * units);
            x = recursive(x, 4 * units, 20);
            x = tail_last(x, units);
        }
        kept_result = x;
    };
    std::thread other(half);
    half();
    other.join();
}

struct Witness {
    ~Witness() { kept_result = kept_result + 1; }
};

KEPT uint64_t frame(uint64_t x, int frames, uint64_t steps)
{
    Witness witness;
    if (frames > 1)
        return frame(x, frames - 1, steps) + 1;
    BURN(x, steps);
    kept_result = x;
    throw std::runtime_error("thrown on purpose");
}

KEPT void exceptions(double amount)
{
    uint64_t state = 88172645463325252u;
    for (long i = 0; i < (long)(amount * 12600); i++) {
        try {
            frame(kept_result, 60, 3 * uneven(&state, UNIT));
        } catch (const std::runtime_error &) {
        }
    }
}

KEPT uint64_t bottom(uint64_t x, uint64_t steps)
{
    BURN(x, steps);
    return x;
}

KEPT uint64_t descend(uint64_t x, int depth, uint64_t steps)
{
    BURN(x, steps / 1000);
    x = depth > 1 ? descend(x, depth - 1, steps) : bottom(x, steps);
    __asm__ volatile("" : "+r"(x));
    return x * 3 + 1;
}

KEPT void recursion(double amount)
{
    uint64_t x = 1, state = 88172645463325252u;
    for (long i = 0; i < (long)(amount * 690); i++)
        x = descend(x, 1000, 50 * uneven(&state, UNIT));
    kept_result = x;
}

int main(int argc, char **argv)
{
    std::string shape = argc > 1 ? argv[1] : "";
    double amount = seconds_argument(argc, argv, 2, 1.0);
    if (shape == "shares")
        shares(amount);
    else if (shape == "exceptions")
        exceptions(amount);
    else if (shape == "recursion")
        recursion(amount);
    else
        return 2;
    printf("{\"cpu_s\":%.6f}\n", process_cpu());
    return 0;
}
