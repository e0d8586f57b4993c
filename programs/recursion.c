/*
 * A deep recursion that computes on its way down and at its bottom.
 * recursion [SECONDS] [DEPTH]
 */
#include "truth.h"

static double bottom_s;

KEPT uint64_t bottom(uint64_t x, uint64_t steps)
{
    BURN(x, steps);
    return x;
}

/* The compiler must not see what follows the inner call: it knows how to make a loop even of x * 3 + 1. */
KEPT uint64_t descend(uint64_t x, int depth, uint64_t steps_here, uint64_t steps_below)
{
    BURN(x, steps_here);
    if (depth > 1) {
        x = descend(x, depth - 1, steps_here, steps_below);
    } else {
        double before = thread_cpu();
        x = bottom(x, steps_below);
        bottom_s += thread_cpu() - before;
    }
    __asm__ volatile("" : "+r"(x));
    return x * 3 + 1;
}

int main(int argc, char **argv)
{
    double began = wall(), seconds = seconds_argument(argc, argv, 1, 1.0);
    int depth = argc > 2 ? atoi(argv[2]) : 300;
    uint64_t x = 1, state = 88172645463325252u;
    double before = thread_cpu(), all_s = 0;
    while (all_s < seconds) {
        uint64_t steps = 50 * uneven(&state, UNIT);
        x = descend(x, depth, steps / (uint64_t)depth, steps);
        all_s = thread_cpu() - before;
    }
    kept_result = x;
    printf("{\"program\":\"recursion\",\"depth\":%d,\"functions\":{\"descend\":%.6f,\"bottom\":%.6f},"
           "\"inclusive\":{\"descend\":%.6f},\"cpu_s\":%.6f,\"wall_s\":%.6f}\n",
           depth, all_s - bottom_s, bottom_s, all_s, process_cpu(), wall() - began);
    return 0;
}
