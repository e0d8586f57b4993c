// C++ exceptions thrown through 60 frames, each with something to destroy on the way.
// exceptions [SECONDS [EACH]]: one of so many calls throws, all of them if none is given.
#include "truth.h"

#include <stdexcept>
#include <string>

constexpr int FRAMES = 60;
static double work_s;
static volatile long destroyed;

struct Witness {
    ~Witness() { destroyed = destroyed + 1; }
};

KEPT uint64_t before_throw(uint64_t x, uint64_t steps)
{
    BURN(x, steps);
    return x;
}

KEPT uint64_t frame(uint64_t x, int frames, uint64_t steps, bool throws)
{
    Witness witness;
    if (frames > 1)
        return frame(x, frames - 1, steps, throws) + 1;
    double before = thread_cpu();
    kept_result = before_throw(x, steps);
    work_s += thread_cpu() - before;
    if (!throws)
        return x;
    throw std::runtime_error("thrown on purpose");
}

int main(int argc, char **argv)
{
    double began = wall(), seconds = seconds_argument(argc, argv, 1, 1.0);
    uint64_t state = 88172645463325252u;
    long each = argc > 2 ? std::stol(argv[2]) : 1, calls = 0, thrown = 0, caught = 0;
    double before = thread_cpu(), all_s = 0;
    while (all_s < seconds) {
        try {
            bool throws = calls++ % each == 0;
            thrown += throws;
            frame(kept_result, FRAMES, 5 * uneven(&state, UNIT), throws);
        } catch (const std::runtime_error &error) {
            caught += std::string(error.what()) == "thrown on purpose";
        }
        all_s = thread_cpu() - before;
    }
    printf("{\"program\":\"exceptions\",\"frames\":%d,\"thrown\":%ld,\"caught\":%ld,\"destroyed\":%ld,"
           "\"functions\":{\"before_throw\":%.6f},\"throwing_s\":%.6f,\"cpu_s\":%.6f,\"wall_s\":%.6f}\n",
           FRAMES, thrown, caught, (long)destroyed, work_s, all_s - work_s, process_cpu(), wall() - began);
    return caught == thrown && destroyed == calls * FRAMES ? 0 : 1;
}
