/*
 * One function with two callers: nine cheap calls from one, a single dear call from the other, cost 9:100.
 * Who divides a function's time by the number of calls says 9:1.
 * cost_by_argument [SECONDS]
 */
#include "truth.h"

KEPT uint64_t work(uint64_t x, uint64_t amount)
{
    BURN(x, amount);
    return x;
}

KEPT uint64_t nine_cheap_calls(uint64_t x, uint64_t amount)
{
    for (int i = 0; i < 9; i++)
        x = work(x, amount);
    return x;
}

KEPT uint64_t one_dear_call(uint64_t x, uint64_t amount)
{
    return work(x, 100 * amount) + 1;
}

int main(int argc, char **argv)
{
    double began = wall(), seconds = seconds_argument(argc, argv, 1, 1.0);
    uint64_t x = 1, state = 88172645463325252u;
    double cheap = 0, dear = 0, now = thread_cpu(), end = now + seconds;
    long rounds = 0;
    for (; now < end; rounds++) {
        uint64_t amount = uneven(&state, UNIT);
        x = nine_cheap_calls(x, amount);
        double between = thread_cpu();
        x = one_dear_call(x, amount);
        double after = thread_cpu();
        cheap += between - now;
        dear += after - between;
        now = after;
    }
    kept_result = x;
    printf("{\"program\":\"cost_by_argument\",\"callers\":{\"nine_cheap_calls\":%.6f,\"one_dear_call\":%.6f},"
           "\"calls\":{\"nine_cheap_calls\":%ld,\"one_dear_call\":%ld},\"cpu_s\":%.6f,\"wall_s\":%.6f}\n",
           cheap, dear, 9 * rounds, rounds, process_cpu(), wall() - began);
    return 0;
}
